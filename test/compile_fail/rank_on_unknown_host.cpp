// expect: dice::error::rank_on_unknown_host<0, dice::remedy::tie_the_rank_to_a_host_of_the_cluster>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>>;
#ifdef MISTAKE
using plan = mapping<dev<0, cores<0>, on<"b">>, layers<all>>;
#else
using plan = mapping<dev<0, cores<0>, on<"a">>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
