// expect: dice::error::not_a_split_option<sample::relu1, dice::rows<sample::conv1, dice::exchange_every<2>, sample::relu1>, dice::remedy::write_the_layers_first_and_then_options_of_this_split_each_once>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>,
                     rows<sample::conv1, exchange_every<2>, sample::relu1>, ranks<0>, layers<from<sample::conv2>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>,
                     rows<sample::conv1, sample::relu1, exchange_every<2>>, ranks<0>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
