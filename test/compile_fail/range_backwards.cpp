// expect: dice::error::range_backwards<sample::relu1, sample::conv1, dice::remedy::swap_first_and_last>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<all, range<sample::relu1, sample::conv1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<all, range<sample::conv1, sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
