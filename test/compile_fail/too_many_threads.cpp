// expect: dice::error::too_many_threads<1025, dice::remedy::ask_for_at_most_1024_threads>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, threads<1025>>, layers<all>>;
#else
using plan = mapping<dev<0, threads<1024>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
