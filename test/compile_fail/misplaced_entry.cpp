// expect: dice::error::misplaced_entry<1, dice::remedy::write_each_dev_followed_by_its_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, dev<1, cpu>, layers<all>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
