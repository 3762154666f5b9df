// expect: dice::error::layer_in_two_lists<sample::conv1, 0, 1, dice::error::and_others<1>, dice::remedy::remove_*>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv1>>, dev<2, cpu>,
                     layers<sample::relu1>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, dev<1, cpu>, layers<sample::conv1, from<sample::conv2>>,
                     dev<2, cpu>, layers<sample::relu1>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
