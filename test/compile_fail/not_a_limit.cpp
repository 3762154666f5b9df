// expect: dice::error::not_a_limit<0, dice::remedy::write_memory_or_precision_or_direct_convolutions_or_on_a_host>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, int>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, memory<1_GiB>, direct_convolutions>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
