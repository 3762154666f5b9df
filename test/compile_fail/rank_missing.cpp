// expect: dice::error::rank_missing<1, dice::remedy::number_the_ranks_from_0_without_gaps>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<2, cpu>, layers<from<sample::conv2>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
