// A layer in two works, on the same device in both.
// expect: dice::error::layer_in_two_lists<sample::relu1, 0, 0, dice::remedy::remove_it_from_one_of_the_layer_lists>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, sample::relu1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, sample::relu1>, ranks<0>,
                     layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
