// expect: dice::error::layers_on_several_devices<0, 1, dice::remedy::write_one_device_before_layers_or_split_the_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, layers<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
