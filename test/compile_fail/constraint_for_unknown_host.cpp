// expect: dice::error::constraint_for_unknown_host<dice::input_at<*>, dice::remedy::name_a_host_of_the_cluster>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, throughput, input_at<"camera">>;
#else
using plan = best_mapping<sample::network, lab, throughput, input_at<"a">>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
