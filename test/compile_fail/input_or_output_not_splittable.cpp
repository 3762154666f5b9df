// expect: dice::error::input_or_output_not_splittable<sample::image, dice::remedy::run_it_as_a_whole_in_a_layers_list>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, dev<1, cpu>, rows<to<sample::conv1>>, ranks<0>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
