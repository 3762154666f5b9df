// expect: dice::error::conflicting_constraints<*, dice::remedy::leave_out_one_of_these_constraints>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, input_at<"b">, output_at<"a">, in_order>;
#else
using plan = best_mapping<sample::network, lab, input_at<"b">, output_at<"a">>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
