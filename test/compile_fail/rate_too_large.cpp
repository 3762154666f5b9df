// expect: dice::error::rate_too_large<dice::processor<*>, dice::remedy::give_rates_below_1e15_and_times_below_1e6_s>
#include <prelude.hpp>

#ifdef MISTAKE
using fast = processor<cpu, gflops<1e15>, gbytes_per_s<10>>;
#else
using fast = processor<cpu, gflops<1e3>, gbytes_per_s<10>>;
#endif
using lab = cluster<host<"a", board<"pc", ram<1_GiB>, fast>>>;
using plan = best_mapping<sample::network, lab>;

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
