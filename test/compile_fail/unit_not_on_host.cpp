// expect: dice::error::unit_not_on_host<0, *, dice::remedy::choose_a_unit_that_the_board_of_this_host_has>
#include <prelude.hpp>

#ifdef MISTAKE
using only = processor<gpu, gflops<800>, gbytes_per_s<50>>;
#else
using only = processor<cpu, gflops<80>, gbytes_per_s<5>>;
#endif
using lab = cluster<host<"a", board<"x", ram<1_GiB>, only>>>;
using plan = mapping<dev<0, cores<0>>, layers<all>>;

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
