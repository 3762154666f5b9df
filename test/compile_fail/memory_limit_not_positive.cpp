// expect: dice::error::memory_limit_not_positive<0, dice::remedy::give_a_positive_number_of_bytes>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, memory<0>>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, memory<1_GiB>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
