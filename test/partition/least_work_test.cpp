// Bounds against mappings of all kinds, also of kinds that the search does not write.
#include "dice/partition/least_work.hpp"

#include "../seeds.hpp"
#include "mixing.hpp"
#include "random_mixes.hpp"

#include "dice/cost/arranged.hpp"
#include "dice/partition/catalogue.hpp"
#include "dice/partition/mix.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dice;
using namespace dice::partition;

/// A chain of convolutions, which are best computed by Winograd's algorithm, and layers that only move numbers. The latter
/// are the greater part of its time.
class moving : public test::mixing {
 public:
  explicit moving(unsigned seed) : mixing(network(seed)) {
    std::mt19937 draw(seed + 7);
    platform::processor_info p;
    p.unit = {.what = platform::unit::kind::threads, .count = 1};
    p.flops = 1e11;
    p.bytes_per_s = 1e8;
    p.busy_watts = 6;
    p.has_watts = true;
    p.memory = std::int64_t{1} << 30;
    on_hosts(std::vector<platform::processor_info>(1 + seed % 2, p), {draw() % 2 ? 1e12 : 1e9, 1e-9}, true);
  }

 private:
  static test::real_network network(unsigned seed) {
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    test::real_network net;
    int last = net.add(ops::input{.extents = {1, 96, 9 + below(8), 8}}, {});
    for (int i = 0; i < 4; ++i) {
      const auto s = net.shape(last);
      switch (below(5)) {
        case 0:
        case 1:
          last = net.add(ops::conv{.channels = 96, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}, {last},
                         {{96, s[1], 3, 3}, {96}});
          break;
        case 2:
          last = net.add(ops::concat{.axis = 1}, {last, last});
          break;
        default: {
          auto part = s;
          const int axis = 1 + below(2);
          part[axis] = (s[axis] + 1) / 2;
          ops::slice some{.extents = part};
          some.starts[static_cast<std::size_t>(axis)] = below(2) ? s[axis] / 2 : 0;
          last = net.add(some, {last});
        }
      }
    }
    net.add(ops::output{}, {last});
    return net;
  }
};

/// Compares the bounds of all objectives with random mappings.
void expect_bounds(const test::mixing& on, unsigned seed, int mappings, int& compared) {
  std::mt19937 draw(seed);
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  const auto p = on.problem();
  double bounds[4];
  for (int o = 0; o < 4; ++o) {
    mix_request r;
    r.wanted.aim.best = static_cast<objective>(o);
    r.few = 0;
    r.ratings = 1;
    bounds[o] = find_mix(on.on(), p, on.evaluator(), on.operators(), r, {}).bound;
    EXPECT_GE(bounds[o], 0) << seed;
  }
  std::vector<platform::processor_info> direct(on.on().cluster.processors.begin(), on.on().cluster.processors.end());
  for (auto& d : direct) d.unit.direct = d.unit.processor() == platform::processor::cpu;
  const auto all = catalogue_of(p, {});
  const cost::arranged_network net(on.on(), p, on.operators(), all);
  for (int i = 0; i < mappings; ++i) {
    meta::array<arrangement> by;
    meta::array<section> sections;
    const int often = 1 + below(4);
    for (int k = 0, a = -1; k < p.cut_units; ++k) {
      if (k == 0 || below(often) == 0 || !net.possible(a, k)) {
        do a = below(all.size());
        while (!net.possible(a, k));
        sections.push_back({by.size(), k, k});
        by.push_back(all[a]);
      }
      sections[sections.size() - 1].last = k + 1;
    }
    auto cluster = on.on().cluster;
    if (i % 2) cluster.processors = direct;
    const auto found = on.evaluator().rate(mapping_of(p, cluster, by, sections).mapping.values());
    if (!found.is_right()) continue;
    ++compared;
    for (int o = 0; o < 4; ++o)
      EXPECT_LE(bounds[o], value_of(static_cast<objective>(o), found.frame.expected) * (1 + 1e-9))
          << "seed " << seed << ", mapping " << i << ", objective " << o;
  }
}

TEST(LeastWork, BoundsHoldForAllMappings) {
  int compared = 0;
  for (const unsigned seed : test::seeds(test::plans(30), {})) expect_bounds(moving(seed), seed, 60, compared);
  for (const unsigned seed : test::seeds(test::plans(30), {}))
    expect_bounds(test::random_mixing(seed, 5 + static_cast<int>(seed % 4), 1 + static_cast<int>(seed % 3)), seed, 30,
                  compared);
  EXPECT_GT(compared, 1000);
}

}  // namespace
