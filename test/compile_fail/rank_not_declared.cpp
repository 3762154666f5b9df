// expect: dice::error::rank_not_declared<3, dice::remedy::declare_its_device_with_dev>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0, 3>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
