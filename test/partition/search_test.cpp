// The searches against an enumeration of all mappings, for random problems.
#include "../seeds.hpp"
#include "brute_force.hpp"

#include "dice/partition/ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>
#include <vector>

namespace {

using namespace dice::partition;

/// Cut units, hosts of a few kinds with one to three devices, connections of a few speeds; few distinct numbers, so that
/// many mappings are equally good.
problem random_problem(std::mt19937& draw, int cut_units, int hosts, int max_devices) {
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  problem p;
  p.cut_units = cut_units;
  p.slots = 1 + below(3);
  for (int k = 0; k <= cut_units; ++k) {
    const bool cut = k > 0 && k < cut_units;
    p.crossing.push_back(cut ? 1 + below(9) * below(9) : 0);
    p.messages.push_back(cut ? 1 + below(2) : 0);
  }
  dice::meta::array<int> kind_of_host;
  const int host_kinds = 1 + below(3);
  dice::meta::array<int> devices_of(host_kinds), first_of(host_kinds);
  std::int64_t weights = 0;
  dice::meta::array<std::int64_t> weight, live;
  for (int k = 0; k < cut_units; ++k) {
    weight.push_back(below(3) * below(20));
    weights += weight[k];
    live.push_back(1 + below(40));
  }
  const bool tight = below(2), handles = below(2);
  dice::meta::array<device> kinds;
  for (int h = 0; h < host_kinds; ++h) {
    devices_of[h] = 1 + (below(3) == 0) + (below(9) == 0);
    first_of[h] = p.kinds.size();
    for (int d = 0; d < devices_of[h]; ++d) {
      dice::cost::costs c;
      const bool like_another = below(2) && p.kinds.size() > 0;
      double sum = 0;
      std::int64_t w = 0;
      c.seconds.push_back(0);
      c.weights.push_back(0);
      for (int k = 0; k < cut_units; ++k) {
        sum += like_another ? 2 * (p.kinds[0].seconds[k + 1] - p.kinds[0].seconds[k]) : below(4) * below(6);
        c.seconds.push_back(sum);
        c.weights.push_back(w += weight[k]);
        c.live.push_back(live[k] + below(3));
      }
      if (handles)
        for (auto* of : {&c.sending, &c.receiving})
          for (const auto bytes : p.crossing)
            of->push_back(bytes > 0 ? below(3) + static_cast<double>(bytes) * below(3) * 0.25 : 0);
      p.kinds.push_back(c);
      device about;
      about.kind = p.kinds.size() - 1;
      about.idle_watts = below(4);
      about.busy_watts = about.idle_watts + 1 + below(5);
      if (tight && below(3)) about.memory_limit = weights / 2 + below(static_cast<int>(weights) + 100);
      kinds.push_back(about);
    }
  }
  p.hosts = hosts;
  for (int h = 0; h < hosts; ++h) kind_of_host.push_back(below(host_kinds));
  for (int h = 0; h < hosts; ++h)
    for (int d = 0; d < devices_of[kind_of_host[h]] && p.devices.size() < max_devices; ++d) {
      p.devices.push_back(kinds[first_of[kind_of_host[h]] + d]);
      p.devices[p.devices.size() - 1].host = h;
      p.devices[p.devices.size() - 1].processor = p.devices.size() - 1;
    }
  // Connections by kinds of hosts; sometimes one connection differs.
  dice::meta::array<dice::platform::link> by_kind(host_kinds * host_kinds);
  for (auto& l : by_kind) l = {1.0 + below(8), static_cast<double>(below(3))};
  const dice::platform::link inside{50, 0.1, below(4) > 0};
  p.links = dice::meta::array<dice::platform::link>(hosts * hosts);
  for (int a = 0; a < hosts; ++a)
    for (int b = 0; b < hosts; ++b) {
      const int ka = std::min(kind_of_host[a], kind_of_host[b]), kb = std::max(kind_of_host[a], kind_of_host[b]);
      p.links[a * hosts + b] = a == b ? inside : by_kind[ka * host_kinds + kb];
    }
  if (hosts > 1 && below(3) == 0) p.links[1] = p.links[hosts] = {0.5, 4};
  complete(p);
  // Hosts are alike if they have the same devices and connections.
  const auto count = [&](int h) {
    int n = 0;
    for (const auto& d : p.devices) n += d.host == h;
    return n;
  };
  for (int h = 0; h < hosts; ++h) {
    int like = h;
    for (int other = 0; other < h && like == h; ++other) {
      bool same = kind_of_host[h] == kind_of_host[other] && count(h) == count(other);
      for (int c = 0; c < hosts; ++c)
        if (c != h && c != other) same = same && p.links[h * hosts + c] == p.links[other * hosts + c];
      if (same) like = p.host_kind[other];
    }
    p.host_kind.push_back(like);
  }
  return p;
}

void compare(const problem& p, const goal& g, unsigned seed, const effort& labels, double wanted) {
  const auto found = search(p, g, max_routes, labels);
  ASSERT_FALSE(found.too_many_kinds);
  const auto about = [&] {
    return "seed " + std::to_string(seed) + ", objective " + std::to_string(static_cast<int>(g.best)) + ", in order " +
           std::to_string(g.in_order) + ", repeats " + std::to_string(g.repeats) + ", period " +
           std::to_string(g.max_period) + ", latency " + std::to_string(g.max_latency) + ", labels " +
           std::to_string(labels.quick) + " " + std::to_string(labels.interval);
  };
  if (wanted == infinity) {
    EXPECT_TRUE(found.best.empty()) << about();
    return;
  }
  ASSERT_FALSE(found.best.empty()) << about();
  EXPECT_NEAR(value_of(g.best, found.best.expected), wanted, 1e-9 * wanted) << about();
  EXPECT_TRUE(keeps(found.best.expected, g)) << about();
  // Its predicted figures are those of its stages, and the stages are a mapping.
  int at = 0;
  for (const auto& s : found.best.stages) {
    EXPECT_EQ(s.first, at) << about();
    EXPECT_LT(s.first, s.last) << about();
    at = s.last;
    EXPECT_LE(memory_of(p, found.best.stages, s.device), p.devices[s.device].memory_limit) << about();
  }
  EXPECT_EQ(at, p.cut_units) << about();
  const auto& stages = found.best.stages;
  bool distinct = true, ordered = true;
  for (int k = 0; k < stages.size(); ++k)
    for (int before = 0; before < k; ++before) {
      distinct = distinct && stages[before].device != stages[k].device;
      ordered = ordered && p.devices[stages[before].device].host <= p.devices[stages[k].device].host;
      EXPECT_TRUE(before < k - 1 || stages[before].device != stages[k].device) << about();
    }
  const bool repeated = g.repeats && stages.size() <= 4;
  EXPECT_TRUE(repeated || (distinct && (ordered || !g.in_order))) << about();
  EXPECT_EQ(predict(p, found.best.stages).latency, found.best.expected.latency) << about();
}

void compare(const problem& p, const goal& g, unsigned seed) {
  const double wanted = test::best_value(p, g);
  for (const effort labels : {effort{}, {3, 10}, {0, 1000}, {0, 0}}) compare(p, g, seed, labels, wanted);
}

class search_equals_brute_force : public testing::TestWithParam<bool> {};

TEST_P(search_equals_brute_force, of_random_problems) {
  // 19749: in order and under a limit of the period, labels must be compared by the time that receiving costs, too.
  for (const unsigned seed : test::seeds(1000, {19749})) {
    std::mt19937 draw(seed);
    const problem p = random_problem(draw, 2 + static_cast<int>(draw() % 6), 1 + static_cast<int>(draw() % 4), 4);
    for (const auto best : {objective::throughput, objective::latency, objective::energy, objective::peak_memory}) {
      goal g{.best = best, .in_order = GetParam()};
      compare(p, g, seed);
      g.max_period = 1 + draw() % 40;
      compare(p, g, seed);
      g.max_latency = 10 + draw() % 120;
      compare(p, g, seed);
      g.max_period = infinity;
      compare(p, g, seed);
      if (p.cut_units > 5) continue;
      g.repeats = true;
      compare(p, g, seed);
      g.max_latency = infinity;
      compare(p, g, seed);
    }
  }
}

/// A network with a layer for each cut unit.
struct ends {
  std::vector<dice::graph::layer_info> layers;
  dice::cost::setting setting() const {
    dice::cost::setting out{};
    out.net.layers = {layers.data(), layers.size()};
    return out;
  }
};

/// Whether the cut units with inputs and outputs are on the hosts that g names.
bool has_ends_in_place(const problem& p, const ends& e, const goal& g, const dice::meta::array<stage>& stages) {
  for (const auto& s : stages)
    for (int k = s.first; k < s.last; ++k) {
      const auto& l = e.layers[k];
      const int host = p.devices[s.device].host;
      if ((l.is_input && g.input_at >= 0 && host != g.input_at) || (l.is_output && g.output_at >= 0 && host != g.output_at))
        return false;
    }
  return true;
}

/// Mappings with inputs and outputs on given hosts, and with few devices.
TEST_P(search_equals_brute_force, with_constraints) {
  int none = 0, some = 0;
  for (const unsigned seed : test::seeds(300, {})) {
    std::mt19937 draw(seed + 7);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    problem p = random_problem(draw, 2 + below(5), 2 + below(3), 4);
    ends e{std::vector<dice::graph::layer_info>(static_cast<std::size_t>(p.cut_units))};
    e.layers.front().is_input = e.layers.back().is_output = true;
    if (below(3) == 0) e.layers[draw() % e.layers.size()].is_input = true;
    if (below(3) == 0) e.layers[draw() % e.layers.size()].is_output = true;
    for (int k = 0; k < p.cut_units; ++k) p.cut_unit_of.push_back(k);
    for (const auto best : {objective::throughput, objective::latency, objective::energy, objective::peak_memory}) {
      goal g{.best = best, .in_order = GetParam(), .repeats = p.cut_units < 5 && below(2)};
      if (below(4)) g.input_at = below(p.hosts);
      if (below(4)) g.output_at = below(p.hosts);
      if (below(2)) g.max_devices = 1 + below(3);
      if (below(3) == 0) g.max_period = 1 + below(40);
      if (below(3) == 0) g.max_latency = 10 + below(120);
      auto tied = p;
      tie_ends(tied, e.setting(), g);
      const double wanted = test::best_value(p, g, [&](const auto& stages) { return has_ends_in_place(p, e, g, stages); });
      ++(wanted == infinity ? none : some);
      for (const effort labels : {effort{}, {0, 1000}, {0, 0}}) compare(tied, g, seed, labels, wanted);
      const auto found = search(tied, g).best;
      EXPECT_TRUE(has_ends_in_place(p, e, g, found.stages)) << seed;
      EXPECT_LE(test::devices_in(found.stages), g.max_devices) << seed;
    }
  }
  EXPECT_GT(none, 0);
  EXPECT_GT(some, none);
}

TEST(search, tells_how_much_is_done) {
  std::mt19937 draw(1);
  const problem p = random_problem(draw, 30, 3, 6);
  for (const auto best : {objective::throughput, objective::latency, objective::energy, objective::peak_memory})
    for (const bool repeats : {false, true}) {
      std::vector<double> parts;
      const watch to{[](void* with, double part) { static_cast<std::vector<double>*>(with)->push_back(part); }, &parts};
      goal g{.best = best, .repeats = repeats};
      const auto alone = search(p, g).best;
      g.seen_by = &to;
      for (const effort labels : {effort{}, {0, 1000}, {0, 0}}) {
        parts.clear();
        EXPECT_NEAR(value_of(best, search(p, g, max_routes, labels).best.expected), value_of(best, alone.expected),
                    1e-9 * value_of(best, alone.expected));
        ASSERT_FALSE(parts.empty());
        EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
        EXPECT_GE(parts.front(), 0);
        EXPECT_LE(parts.back(), 1);
        // For sums, also check that the second phase of the search reports progress.
        const bool second = labels.quick == 0 && (best == objective::latency || best == objective::energy);
        EXPECT_GT(parts.back(), second && !repeats ? 0.56 : 0.0);
      }
    }
}

/// Random times, with which most partial mappings are worth keeping.
TEST(search, ways_agree_where_many_mappings_are_nearly_as_good) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 draw(seed);
    problem p = random_problem(draw, 25, 5, 6);
    std::uniform_real_distribution<> factor(0.5, 2);
    for (auto& c : p.kinds) {
      double sum = 0;
      for (int k = 0; k < p.cut_units; ++k) c.seconds[k + 1] = sum += 5 * factor(draw);
    }
    for (auto& d : p.devices) d.busy_watts = d.idle_watts + 4 * factor(draw);
    complete(p);
    for (int h = 0; h < p.hosts; ++h) p.host_kind[h] = h;
    for (const auto best : {objective::latency, objective::energy})
      for (const bool in_order : {false, true}) {
        const goal g{.best = best, .in_order = in_order};
        const double labels = value_of(best, search(p, g, max_routes, {INT_MAX, 0}).best.expected);
        for (const int interval : {1000, 0})
          EXPECT_NEAR(value_of(best, search(p, g, max_routes, {0, interval}).best.expected), labels, 1e-9 * labels)
              << seed << " " << static_cast<int>(best) << in_order << " " << interval;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(search, search_equals_brute_force, testing::Bool());

}  // namespace
