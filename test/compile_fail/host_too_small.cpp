// expect: dice::error::host_too_small<dice::input_at<*>, dice::memory_limit<*>,
// dice::remedy::give_this_host_more_memory_or_name_another>
#include <prelude.hpp>

template <std::int64_t Ram> using camera = board<"camera", ram<Ram>, processor<cpu, gflops<1>, gbytes_per_s<1>>>;
#ifdef MISTAKE
using lab = cluster<host<"a", camera<1000>>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#else
using lab = cluster<host<"a", camera<1_MiB>>, host<"b", boards::raspberry_pi_4>, connection<mbit_per_s<940>>>;
#endif
using plan = best_mapping<sample::network, lab, input_at<"a">>;

int main(int argc, char** argv) { return dice::main<sample::network, plan, lab>(argc, argv); }
