// expect: dice::error::not_a_split_option<sample::relu1, dice::remedy::put_it_once_after_the_layers_of_a_split_that_has_it>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>,
                     rows<sample::conv1, exchange_every<2>, sample::relu1>, ranks<0>, layers<from<sample::conv2>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>,
                     rows<sample::conv1, sample::relu1, exchange_every<2>>, ranks<0>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
