// expect: dice::error::no_mapping_within<dice::at_least_fps<*>, dice::at_least_fps<*>, dice::remedy::relax_this_limit_or_add_devices>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, energy, at_least_fps<1e9>>;
#else
using plan = best_mapping<sample::network, lab, energy, at_least_fps<10>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
