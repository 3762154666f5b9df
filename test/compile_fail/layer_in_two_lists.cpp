// expect: dice::error::layer_in_two_lists<sample::relu1, 0, 1, dice::remedy::remove_it_from_one_of_the_layer_lists>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
