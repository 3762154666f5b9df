// expect: dice::error::too_few_threads<0, dice::remedy::ask_for_at_least_one_thread>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, threads<0>>, layers<all>>;
#else
using plan = mapping<dev<0, threads<1>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
