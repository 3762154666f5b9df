// expect: dice::error::too_few_channel_blocks<sample::conv1, 1, 2, dice::remedy::make_fewer_parts_or_split_it_in_another_way_or_not_at_all>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, output_channels<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
