// Stages where connections differ: their figures are those of plans, in which tensors go straight to their readers.
#include "dice/partition/search_direct.hpp"

#include "../seeds.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/mix.hpp"
#include "random_mixes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dice;
using namespace dice::partition;

/// A random network on hosts of which some pairs have a slow connection.
class far_hosts : public test::random_mixing {
 public:
  far_hosts(unsigned seed, int hosts) : random_mixing(seed, 6 + static_cast<int>(seed % 6), hosts) {
    std::mt19937 draw(seed);
    const auto n = static_cast<std::size_t>(hosts);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const bool far = draw() % 2;
        link_between(a, b) = link_between(b, a) = far ? platform::link{1e7, 1e-4} : platform::link{1e10, 1e-7};
      }
  }
};

/// The figures of the plan of stages.
cost::prediction planned(const test::random_mixing& on, const problem& p, const meta::array<stage>& stages) {
  meta::array<arrangement> all;
  meta::array<section> sections;
  for (const auto& part : mix_of(stages)) {
    sections.push_back({all.size(), part.first, part.last});
    all.push_back(part.by);
  }
  const auto rated = on.evaluator().rate(mapping_of(p, on.on().cluster, all, sections).mapping.values());
  EXPECT_TRUE(rated.is_right());
  return rated.frame.expected;
}

/// Calls f(stages) for all stages of p on one device or two.
template <class F> void each_of_two(const problem& p, F f) {
  for (int a = 0; a < p.devices.size(); ++a)
    for (int b = 0; b < p.devices.size(); ++b)
      for (int cut = 1; cut < p.cut_units && a != b; ++cut) {
        meta::array<stage> stages;
        stages.push_back({a, 0, cut});
        stages.push_back({b, cut, p.cut_units});
        f(stages);
      }
  for (int a = 0; a < p.devices.size(); ++a) {
    meta::array<stage> stages;
    stages.push_back({a, 0, p.cut_units});
    f(stages);
  }
}

TEST(direct_messages, take_what_those_of_plans_take) {
  int all = 0, compared = 0, relayed = 0, near = 0;
  for (const unsigned seed : test::seeds(test::plans(100), {})) {
    const far_hosts on(seed, 4);
    const auto p = on.problem();
    const direct_messages direct(on.on(), p);
    if (!direct.any() || p.cut_units < 5) continue;
    std::mt19937 draw(seed);
    meta::array<int> devices;
    for (int d = 0; d < 4; ++d) devices.push_back(d);
    std::shuffle(devices.begin(), devices.end(), draw);
    meta::array<stage> stages;
    for (int k = 0, first = 0; k < 3; ++k) {
      const int last =
          k == 2 ? p.cut_units : first + 1 + static_cast<int>(draw() % static_cast<unsigned>((p.cut_units - first) / 2));
      stages.push_back({devices[k], first, last});
      first = last;
    }
    const auto plan = planned(on, p, stages), mine = direct.figures(p, stages), relays = cost::predict(p, stages);
    EXPECT_LE(mine.period, plan.period * (1 + 1e-9)) << seed;            // plans may pad channels
    near += std::abs(mine.latency - plan.latency) < 0.2 * plan.latency;  // their ranks may compute branches side by side
    ++all;
    compared += std::abs(mine.period - plan.period) < 1e-9 * plan.period;
    relayed += std::abs(relays.period - plan.period) > 1e-9 * plan.period;
  }
  EXPECT_GT(compared, 30);
  EXPECT_GT(near, all * 9 / 10);
  EXPECT_GT(relayed, 5);
}

TEST(find_best, has_the_figures_of_its_plan_and_keeps_to_limits) {
  int found_some = 0, limited = 0, relays = 0, pairs = 0, worse = 0;
  for (const unsigned seed : test::seeds(test::plans(100), {})) {
    const far_hosts on(seed, 3 + static_cast<int>(seed % 2));
    const auto p = on.problem();
    const auto limits = detail::limits_of(on.on().cluster);
    if (detail::may_exceed(p, detail::span_of(limits))) continue;  // then the answer may be the mapping with least memory
    relays += relays_matter(on.on(), p);
    for (const auto best : {objective::throughput, objective::latency, objective::energy}) {
      request r{.aim = {.best = best}};
      const auto check = [&](const search_result& found) {
        ++found_some;
        const auto plan = planned(on, p, found.stages);
        EXPECT_EQ(found.expected.period, plan.period) << seed;
        EXPECT_EQ(found.expected.latency, plan.latency) << seed;
        EXPECT_EQ(found.expected.energy, plan.energy) << seed;
        EXPECT_EQ(found.expected.memory, plan.memory) << seed;
        EXPECT_TRUE(keeps(plan, r.aim)) << seed;
      };
      const auto found = find_best(on.on(), r);
      if (found.empty()) continue;
      check(found);
      if (best == objective::throughput) {  // no tensor skips a stage of two
        each_of_two(p, [&](const auto& stages) {
          ++pairs;
          worse += found.expected.period > planned(on, p, stages).period * (1 + 1e-9);  // where channels are padded
        });
      }
      // What is the most that is possible for a limit can be reached.
      for (const bool fps : {true, false}) {
        r.aim.max_period = r.aim.max_latency = infinity;
        (fps ? r.aim.max_period : r.aim.max_latency) = 1e-12;
        const auto none = find_best(on.on(), r);
        if (!none.empty()) continue;
        ASSERT_EQ(none.why.what, fps ? obstacle::fps : obstacle::latency) << seed;
        if (fps) r.aim.max_period = 1 / rounded(none.why.value, false);
        else r.aim.max_latency = rounded(none.why.value, true);
        const auto again = find_best(on.on(), r);
        EXPECT_FALSE(again.empty()) << seed << " " << static_cast<int>(best) << " " << fps;
        if (again.empty()) continue;
        check(again);
        ++limited;
      }
    }
  }
  EXPECT_GT(found_some, 100);
  EXPECT_GT(limited, 50);
  EXPECT_GT(relays, 10);
  EXPECT_LE(worse, pairs / 100);
}

}  // namespace
