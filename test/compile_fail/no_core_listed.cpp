// expect: dice::error::no_core_listed<0, dice::remedy::use_core_numbers_from_0>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cores<>>, layers<all>>;
#else
using plan = mapping<dev<0, cores<0>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
