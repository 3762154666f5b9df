// expect: dice::error::no_layer_named<dice::no_split_of<*>, dice::remedy::name_layers_of_this_network_in_its_order>
#include <prelude.hpp>

using lab = cluster<host<"a", boards::raspberry_pi_4>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#ifdef MISTAKE
using plan = best_mapping<sample::network, lab, latency, no_split_of<range<sample::conv2, sample::conv1>>>;
#else
using plan = best_mapping<sample::network, lab, latency, no_split_of<range<sample::conv1, sample::conv2>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
