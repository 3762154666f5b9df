// expect: dice::error::not_a_layer_of_the_network<other::conv1, dice::remedy::name_layers_of_the_network_passed_to_main>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<all, other::conv1>>;
#else
using plan = mapping<dev<0, cpu>, layers<all, sample::conv1>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
