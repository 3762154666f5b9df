// expect: dice::error::layer_without_device<sample::conv2, dice::error::and_others<2>,
// dice::remedy::add_it_to_a_layers_list>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<range<sample::relu2, sample::fc1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::add1>>, dev<1, cpu>, layers<range<sample::relu2, sample::scores>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
