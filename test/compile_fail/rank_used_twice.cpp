// expect: dice::error::rank_used_twice<1, dice::remedy::give_each_device_a_rank_of_its_own_or_name_it_again_with_ranks>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<1, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#else
using plan = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
