// expect: dice::error::percentage_out_of_range<dice::fewest_devices<*>, dice::remedy::give_a_percentage_from_0_to_100>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, energy, fewest_devices<150>>;
#else
using plan = best_mapping<sample::network, lab, energy, fewest_devices<15>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
