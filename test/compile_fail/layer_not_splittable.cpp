// expect: dice::error::layer_not_splittable<sample::flatten1, dice::remedy::run_it_as_a_whole_in_a_layers_list>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu2>, from<sample::fc1>>, ranks<0>, dev<1, cpu>,
                     columns<range<sample::pool1, sample::flatten1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu2>, from<sample::flatten1>>, ranks<0>, dev<1, cpu>,
                     columns<range<sample::pool1, sample::concat1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
