// expect: dice::error::memory_limit_too_large<0, dice::remedy::give_less_than_8_EiB>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, memory<17179869185_GiB>>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, memory<8589934591_GiB>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
