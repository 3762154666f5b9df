// Predictions for all cuts of a network on the hosts h1 and h2, as they were measured, one line each: the first device, the
// id of its last layer (-1: it has all), frames/s, ms of a frame by itself. Then "best" and the frames/s of best_mapping.
// predictions defines NETWORK, HEADER, PROFILE and PROFILE_HEADER, and includes this.
#include <dice/partition/partition.hpp>

#include HEADER
#include PROFILE_HEADER

#include <cstdio>

using namespace dice;
using namespace dice::literals;
using whole = NETWORK::network;
template <class Measured> using computer = board<"computer", ram<16_GiB>, processor<threads<1>, profile<Measured>>>;
using lab = cluster<host<"h1", computer<PROFILE::h1>>, host<"h2", computer<PROFILE::h2>>, PROFILE::h1_h2>;

int main() {
  const auto problem = cost::problem_of(cost::setting_of<whole, lab>);
  const auto tell = [&](const meta::array<cost::stage>& stages) {
    int last = -1;  // layer
    for (int l = 0; l < problem.cut_unit_of.size(); ++l)
      if (problem.cut_unit_of[l] < stages[0].last) last = l;
    const auto expected = cost::predict(problem, stages);
    std::printf("%d %d %.6g %.6g\n", stages[0].device, stages.size() == 1 ? -1 : last, expected.throughput,
                expected.latency * 1e3);
  };
  for (int cut = 1; cut < problem.cut_units; ++cut) {
    meta::array<cost::stage> stages;
    stages.push_back({0, 0, cut});
    stages.push_back({1, cut, problem.cut_units});
    // Only cuts that keep the order of ids can be written as to<…> and from<…>.
    bool in_order = true;
    int last = -1;
    for (int l = 0; l < problem.cut_unit_of.size(); ++l)
      if (problem.cut_unit_of[l] < cut) {
        in_order = in_order && last == l - 1;
        last = l;
      }
    if (in_order) tell(stages);
  }
  for (const int device : {0, 1}) {
    meta::array<cost::stage> alone;
    alone.push_back({device, 0, problem.cut_units});
    tell(alone);
  }
  using best = best_mapping<whole, lab, throughput, in_order>;
  std::printf("best %.6g\n", predicted<whole, best, lab>.throughput);
}
