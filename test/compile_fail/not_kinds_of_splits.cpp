// expect: dice::error::not_kinds_of_splits<dice::kinds<*>, dice::remedy::write_rows_columns_grid_channels_or_replicas>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, latency, kinds<rows, layers>>;
#else
using plan = best_mapping<sample::network, lab, latency, kinds<rows, grid>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
