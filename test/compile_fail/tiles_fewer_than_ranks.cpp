// expect: dice::error::tiles_fewer_than_ranks<dice::tiles<1, 1, sample::conv1>, 2, dice::remedy::write_at_least_as_many_tiles_as_ranks>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, tiles<1, 1, sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, tiles<2, 2, sample::conv1>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
