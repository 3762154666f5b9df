// expect: dice::error::core_listed_twice<2, dice::remedy::list_each_core_once>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cores<0, 2, 1, 2>>, layers<all>>;
#else
using plan = mapping<dev<0, cores<0, 2, 1, 3>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
