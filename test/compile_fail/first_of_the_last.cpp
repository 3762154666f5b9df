// A layer on no device and a limit less than any plan needs: the layer is named, the memory comes last.
// expect: dice::error::layer_without_device<sample::scores, dice::remedy::add_it_to_a_layers_list>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, memory<1>>, layers<to<sample::fc1>>>;
#else
using plan = mapping<dev<0, cpu, memory<1_MiB>>, layers<to<sample::scores>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
