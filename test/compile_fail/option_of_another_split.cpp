// expect: dice::error::not_a_split_option<dice::shares<1, 2>, dice::tiles<1, 2, sample::conv1, dice::shares<1, 2>>, *>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, tiles<1, 2, sample::conv1, shares<1, 2>>,
                     ranks<0>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, columns<sample::conv1, shares<1, 2>>,
                     ranks<0>, layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
