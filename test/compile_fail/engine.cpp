// expect: dice::error::layer_without_device<sample::conv2, dice::remedy::add_it_to_a_layers_list>
#include <prelude.hpp>

#include <dice/engine.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::add1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main() { dice::start<sample::network, plan>(); }
