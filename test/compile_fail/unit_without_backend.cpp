// expect: dice::error::unit_without_backend<dice::gpu, dice::remedy::link_dice_cudnn_or_use_a_cpu_unit>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, gpu>, layers<all>>;
#else
using plan = mapping<dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
