// expect: dice::error::empty_layer_list<dice::layers<>, dice::remedy::give_it_at_least_one_layer>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<all>, dev<1, cpu>, layers<>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
