// expect: dice::error::hosts_without_connection<*, dice::remedy::add_a_connection_of_every_pair_or_between_these>
#include <prelude.hpp>

using pi = boards::raspberry_pi_4;
#ifdef MISTAKE
using lab = cluster<host<"a", pi>, host<"b", pi>, host<"c", pi>, connection<between<"a", "b">, mbit_per_s<940>>>;
#else
using lab = cluster<host<"a", pi>, host<"b", pi>, host<"c", pi>, connection<mbit_per_s<940>>>;
#endif
using plan = best_mapping<sample::network, lab>;

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
