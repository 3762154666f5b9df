// expect: dice::error::split_on_one_rank<0, dice::remedy::name_several_devices_or_write_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan =
    mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, rows<sample::conv1>, ranks<0>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
