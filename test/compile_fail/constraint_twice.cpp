// expect: dice::error::constraint_twice<dice::output_at<*>, dice::output_at<*>, dice::remedy::give_each_constraint_once>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, output_at<"a">, output_at<"b">>;
#else
using plan = best_mapping<sample::network, lab, output_at<"a">, input_at<"b">>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
