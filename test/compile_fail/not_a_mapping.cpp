// expect: dice::error::not_a_mapping<dice::layers<dice::all>, dice::remedy::write_mapping_of_dev_and_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = layers<all>;
#else
using plan = mapping<dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
