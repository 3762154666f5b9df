// expect: dice::error::memory_limit_less_than_plan<0, *, dice::remedy::raise_the_limit_or_move_layers_to_another_device>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, memory<5_KiB>>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, memory<512_KiB>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
