// The search for mixes against an enumeration of all mappings of its catalogue.
#include "dice/partition/mix.hpp"

#include "../seeds.hpp"
#include "random_mixes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace dice;
using namespace dice::partition;

/// A request with an objective, and sometimes limits, kinds of splits or layers that must be whole.
struct drawn_request {
  mix_request is;
  std::vector<char> whole_only;
};
void draw_request(drawn_request& to, const test::random_mixing& on, std::mt19937& draw) {
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  auto& r = to.is;
  r.wanted.aim.best = static_cast<objective>(below(4));
  if (below(3)) {  // some kinds only, so that all mappings can be tried
    r.wanted.words = 0;
    for (int i = 0; i < 2; ++i) r.wanted.words |= bit_of_kind(kind_words[static_cast<std::size_t>(below(6))]);
  }
  if (below(4) == 0) r.wanted.aim.in_order = true;
  const int hosts = on.on().cluster.size();
  if (below(4) == 0) r.wanted.aim.input_at = below(hosts);
  if (below(5) == 0) r.wanted.aim.output_at = below(hosts);
  if (below(6) == 0) r.wanted.aim.max_devices = 1 + below(hosts);
  if (below(3) == 0) {
    to.whole_only.resize(static_cast<std::size_t>(on.net().size()));
    for (auto& w : to.whole_only) w = below(3) == 0;
    r.whole_only = {to.whole_only.data(), to.whole_only.size()};
  }
  const auto alone = find_best(on.on(), request{});
  if (!alone.empty() && below(3) == 0) r.wanted.memory = alone.expected.memory * (6 + below(5)) / 10;
  if (!alone.empty() && below(3) == 0) r.wanted.aim.max_period = alone.expected.period * (0.7 + 0.1 * below(9));
  if (!alone.empty() && below(3) == 0) r.wanted.aim.max_latency = alone.expected.latency * (0.5 + 0.1 * below(9));
}

catalogue_request catalogue_request_of(const mix_request& r) {
  const auto& aim = r.wanted.aim;
  return {.words = r.wanted.words,
          .effort = r.effort,
          .replicas = aim.best != objective::latency || aim.max_period < infinity,
          .input_at = aim.input_at,
          .output_at = aim.output_at};
}

/// A mix that was found has the figures of its plan and keeps to the request.
void expect_right(const test::random_mixing& on, const mix_request& r, const mix_result& found, const std::string& about) {
  if (found.sections.empty()) return;
  const auto p = on.problem();
  const auto& aim = r.wanted.aim;
  meta::array<arrangement> all;
  meta::array<section> sections;
  int last = -1;
  for (const auto& part : found.sections) {
    sections.push_back({all.size(), part.first, part.last});
    all.push_back(part.by);
    EXPECT_TRUE(part.by.is_whole() || r.wanted.words >> part.by.word & 1) << about;
    for (int l = 0; l < on.net().size(); ++l) {
      if (p.cut_unit_of[l] < part.first || p.cut_unit_of[l] >= part.last) continue;
      const auto& layer = on.on().net.layers[l];
      const bool at_end = (layer.is_input && aim.input_at >= 0) || (layer.is_output && aim.output_at >= 0);
      EXPECT_FALSE(r.whole_only.size() > 0 && r.whole_only[l] && !part.by.is_whole()) << about;
      EXPECT_TRUE(!at_end || p.devices[part.by.devices[0]].host == (layer.is_input ? aim.input_at : aim.output_at)) << about;
    }
    EXPECT_TRUE(!aim.in_order || *std::min_element(part.by.devices.begin(), part.by.devices.end()) > last) << about;
    last = *std::max_element(part.by.devices.begin(), part.by.devices.end());
  }
  const auto m = mapping_of(p, on.on().cluster, all, sections);
  const auto rated = on.evaluator().rate(m.mapping.values());
  ASSERT_TRUE(rated.is_right()) << about;
  EXPECT_EQ(rated.frame.expected.period, found.expected.period) << about;
  EXPECT_EQ(rated.frame.expected.latency, found.expected.latency) << about;
  EXPECT_EQ(rated.frame.expected.energy, found.expected.energy) << about;
  EXPECT_EQ(rated.frame.expected.memory, found.expected.memory) << about;
  EXPECT_TRUE(keeps(found.expected, aim)) << about;
  EXPECT_LE(m.devices.size(), aim.max_devices) << about;
  for (int rank = 0; rank < m.devices.size(); ++rank)
    EXPECT_LE(rated.frame.ranks[rank].memory, std::min(p.devices[m.devices[rank]].memory_limit, r.wanted.memory)) << about;
}

TEST(Mix, IsTheBestOfItsCatalogue) {
  int compared = 0, none = 0;
  for (const unsigned seed : test::seeds(test::plans(150), {})) {
    std::mt19937 draw(seed);
    const test::random_mixing on(seed, 3 + static_cast<int>(draw() % 6), 1 + static_cast<int>(draw() % 3));
    drawn_request r;
    draw_request(r, on, draw);
    const auto p = on.problem();
    const auto all = catalogue_of(p, catalogue_request_of(r.is));
    double mappings = 1;
    for (int k = 0; k < p.cut_units; ++k) mappings *= all.size();
    if (mappings > 20000) continue;  // all are rated
    const auto wanted = test::best_of_catalogue(on, r.is, all);
    const auto found = find_mix(on.on(), p, on.evaluator(), on.operators(), r.is, {});
    ++compared;
    const auto about = [&] {
      return "seed " + std::to_string(seed) + ", objective " + std::to_string(static_cast<int>(r.is.wanted.aim.best));
    };
    expect_right(on, r.is, found, about());
    if (wanted.value == infinity) {  // shares that the catalogue lacks may keep to a limit
      ++none;
      continue;
    }
    if (found.sections.empty()) {
      ADD_FAILURE() << about() << ": nothing was found";
      continue;
    }
    const double value = value_of(r.is.wanted.aim.best, found.expected);
    EXPECT_TRUE(found.exact) << about();
    EXPECT_GE(found.mappings, wanted.mappings) << about();
    // Of those on hosts that are alike, one is rated; of those in another order, none.
    EXPECT_TRUE(r.is.wanted.aim.in_order || found.rated * 6 >= found.mappings) << about();
    EXPECT_LE(value, wanted.value * (1 + 3e-5)) << about();  // of nearly equal ones, that with the shorter latency
    EXPECT_LE(found.bound, wanted.value * (1 + 1e-9)) << about() << ": the bound";
  }
  EXPECT_GT(compared - none, 5) << none << " without a mapping";
}

/// With the hosts that are alike in another order, a mapping has the same figures.
TEST(Mix, HostsThatAreAlikeAreInterchangeable) {
  int renamed = 0, whole_order = 0;
  for (const unsigned seed : test::seeds(test::plans(60), {})) {
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const test::random_mixing on(seed, 4 + below(5), 2 + below(2));
    const auto p = on.problem();
    goal g;
    if (below(4) == 0) g.input_at = below(p.hosts);
    if (below(4) == 0) g.output_at = below(p.hosts);
    if (below(8) == 0) g.in_order = true;
    const auto all = catalogue_of(p, {});
    const partition::detail::alike_hosts alike(p, g);
    for (int round = 0; round < 10; ++round) {
      mixed m;
      for (int k = 0; k < p.cut_units; ++k) {
        if (k == 0 || below(2)) m.push_back({all[below(below(2) ? all.size() : p.devices.size())], k, k});
        m.back().last = k + 1;
      }
      const auto rate = [&](const mixed& of) {
        meta::array<arrangement> by;
        meta::array<section> sections;
        for (const auto& part : of) {
          sections.push_back({by.size(), part.first, part.last});
          by.push_back(part.by);
        }
        return on.evaluator().rate(mapping_of(p, on.on().cluster, by, sections).mapping.values());
      };
      const auto other = alike.renamed(m);
      const bool same =
          std::equal(m.begin(), m.end(), other.begin(), [](const auto& x, const auto& y) { return x.by == y.by; });
      EXPECT_TRUE(same || !g.in_order);
      whole_order += g.in_order;
      renamed += !same;
      const auto before = rate(m), after = rate(other);
      ASSERT_EQ(before.is_right(), after.is_right()) << seed;
      if (!before.is_right()) continue;
      EXPECT_NEAR(after.frame.expected.latency, before.frame.expected.latency, 1e-12) << seed;
      EXPECT_NEAR(after.frame.expected.period, before.frame.expected.period, 1e-12) << seed;
      EXPECT_EQ(after.frame.expected.memory, before.frame.expected.memory) << seed;
      for (std::size_t i = 0; i < m.size(); ++i)
        for (int d = 0; d < m[i].by.devices.size(); ++d) {
          const int a = p.devices[m[i].by.devices[d]].host, b = p.devices[other[i].by.devices[d]].host;
          EXPECT_EQ(p.host_kind[a], p.host_kind[b]) << seed;
          EXPECT_EQ(a == g.input_at, b == g.input_at) << seed;
          EXPECT_EQ(a == g.output_at, b == g.output_at) << seed;
        }
    }
  }
  EXPECT_GT(renamed, 20);
  EXPECT_GT(whole_order, 0);
}

/// Of few devices, each pair may share layers, or one of devices that are alike.
TEST(Mix, FewUnlikeDevicesShareInEverySet) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const test::random_mixing on(seed, 4, 3 + static_cast<int>(seed % 2));
    const auto p = on.problem();
    const auto kinds = [&](int a, int b) {
      return std::set{std::pair{p.devices[a].kind, p.host_kind[p.devices[a].host]},
                      std::pair{p.devices[b].kind, p.host_kind[p.devices[b].host]}};
    };
    std::set<std::set<std::pair<int, int>>> sharing;
    for (const auto& by : catalogue_of(p, {}))
      if (by.devices.size() == 2) sharing.insert(kinds(by.devices[0], by.devices[1]));
    for (int a = 0; a < p.devices.size(); ++a)
      for (int b = a + 1; b < p.devices.size(); ++b)
        EXPECT_TRUE(sharing.contains(kinds(a, b))) << seed << ": " << a << ", " << b;
  }
}

/// Where one device computes all, neighbours give others some of it, but for the network's inputs and outputs.
TEST(Mix, NeighboursShareWhatOneDeviceComputes) {
  const test::random_mixing on(1, 6, 2);
  const auto p = on.problem();
  const auto catalogue = catalogue_of(p, {});
  const partition::detail::neighbourhood near{catalogue, p.devices.size(), ~0u, true};
  int shared = 0;
  near.each({{catalogue[0], 0, p.cut_units}}, -1, [&](const mixed& m) {
    if (m.size() != 3 || !m[1].by.has_replicas() || m[1].by.shares.empty()) return false;
    ++shared;
    EXPECT_TRUE(m[0].by.is_whole() && m[2].by.is_whole());
    EXPECT_EQ(m[0].last, 1);
    EXPECT_EQ(m[1].first, 1);
    EXPECT_EQ(m[1].last, p.cut_units - 1);
    EXPECT_EQ(m[2].first, p.cut_units - 1);
    return false;
  });
  EXPECT_EQ(shared, 3);
}

/// What is found keeps to the request where not all mappings are rated, too.
TEST(Mix, KeepsToItsRequest) {
  int found_some = 0, on_gpus = 0;
  for (const unsigned seed : test::seeds(test::plans(80), {})) {
    std::mt19937 draw(seed + 5);
    const test::random_mixing on(seed, 9 + static_cast<int>(draw() % 6), 2 + static_cast<int>(draw() % 2));
    drawn_request r;
    draw_request(r, on, draw);
    if (seed % 2) r.is.wanted.words = ~0u;
    if (seed % 2 && r.whole_only.empty()) {
      r.whole_only.assign(static_cast<std::size_t>(on.net().size()), 0);
      for (std::size_t l = 0; l < r.whole_only.size(); l += 3) r.whole_only[l] = 1;
      r.is.whole_only = {r.whole_only.data(), r.whole_only.size()};
    }
    r.is.few = 0;
    r.is.ratings = 200;
    const auto found = find_mix(on.on(), on.problem(), on.evaluator(), on.operators(), r.is, {});
    found_some += !found.sections.empty();
    for (const auto& part : found.sections)
      for (const int d : part.by.devices)
        on_gpus += !part.by.is_whole() && on.on().cluster.processors[static_cast<std::size_t>(d)].own_memory;
    expect_right(on, r.is, found, "seed " + std::to_string(seed));
  }
  EXPECT_GT(found_some, 20);
  EXPECT_GT(on_gpus, 0);  // share layers with CPUs
}

/// What needs the least memory is found under that limit, too, whatever the objective is; and more effort finds nothing
/// worse.
TEST(Mix, KeepsToTheLeastLimits) {
  int limited = 0;
  for (const unsigned seed : test::seeds(test::plans(12), {})) {
    const test::random_mixing on(seed, 8 + static_cast<int>(seed % 5), 2 + static_cast<int>(seed % 2));
    const auto p = on.problem();
    const auto find = [&](objective best, std::int64_t memory, int effort = 1) {
      mix_request r;
      r.few = 0;
      r.ratings = 150;
      r.effort = effort;
      r.wanted.aim.best = best;
      r.wanted.memory = memory;
      const auto stages = mix_of(find_best(on.on(), p, r.wanted).stages);
      auto found = find_mix(on.on(), p, on.evaluator(), on.operators(), r, stages);
      expect_right(on, r, found, "seed " + std::to_string(seed));
      return found;
    };
    const auto least = find(objective::peak_memory, no_limit);
    if (least.sections.empty()) continue;
    for (const auto best : {objective::throughput, objective::latency, objective::peak_memory}) {
      const auto free = find(best, no_limit), more = find(best, no_limit, 2), tight = find(best, least.expected.memory);
      EXPECT_LE(value_of(best, more.expected), value_of(best, free.expected) * (1 + 3e-5)) << seed;
      EXPECT_FALSE(tight.sections.empty()) << "seed " << seed << ", objective " << static_cast<int>(best);
      limited += free.expected.memory > least.expected.memory;
    }
    EXPECT_TRUE(find(objective::throughput, 1).sections.empty());
  }
  EXPECT_GT(limited, 10);
}

/// A search that is stopped has the best mapping so far.
TEST(Mix, CanBeStopped) {
  const test::random_mixing on(3, 8, 3);
  const auto p = on.problem();
  int told = 0, left = 0;
  struct both {
    int &told, &left;
  } counts{told, left};
  watch seen{[](void* with, double part) {
               ++static_cast<both*>(with)->told;
               EXPECT_TRUE(part >= 0 && part <= 1) << part;
             },
             &counts, [](void* with) { return --static_cast<both*>(with)->left < 0; }};
  mix_request r;
  r.few = 0;
  r.wanted.aim.seen_by = &seen;
  left = 1 << 30;
  const auto whole = find_mix(on.on(), p, on.evaluator(), on.operators(), r, {});
  EXPECT_FALSE(whole.stopped);
  EXPECT_GT(told, 10);
  double last = infinity;
  for (const int most : {0, 40, 150, 400}) {
    left = most;
    const auto some = find_mix(on.on(), p, on.evaluator(), on.operators(), r, {});
    EXPECT_TRUE(some.stopped) << most;
    EXPECT_LE(some.rated, most);
    const double value = some.sections.empty() ? infinity : some.expected.period;
    EXPECT_LE(value, last) << most;
    EXPECT_GE(value, whole.expected.period) << most;
    expect_right(on, r, some, "stopped after " + std::to_string(most));
    last = value;
  }
  EXPECT_LT(last, infinity);
  const auto stages = mix_of(find_best(on.on(), p, r.wanted).stages);
  ASSERT_FALSE(stages.empty());
  left = 0;
  const auto known = find_mix(on.on(), p, on.evaluator(), on.operators(), r, stages);
  EXPECT_TRUE(known.stopped);
  ASSERT_FALSE(known.sections.empty());
  expect_right(on, r, known, "stopped at once");
}

/// Of mappings that are within some percent of the best, one with fewer devices.
TEST(Mix, UsesTheFewestDevicesThatAreGoodEnough) {
  int fewer = 0, twice_fewer = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const test::random_mixing on(seed, seed % 2 ? 7 : 5, seed % 2 ? 3 : 4);
    const auto p = on.problem();
    const auto devices = [&](const mix_result& of) {
      std::set<int> out;
      for (const auto& part : of.sections) out.insert(part.by.devices.begin(), part.by.devices.end());
      return out.size();
    };
    mix_request r;
    const auto best = find_mix(on.on(), p, on.evaluator(), on.operators(), r, {});
    if (best.sections.empty()) continue;  // too little memory
    for (const double percent : {0.0, 30.0, 60.0, 100.0}) {
      r.wanted.percent = percent;
      const auto found = find_mix(on.on(), p, on.evaluator(), on.operators(), r, {});
      EXPECT_TRUE(good_enough(r.wanted, found.expected, best.expected)) << seed << " " << percent;
      EXPECT_LE(devices(found), devices(best)) << seed;
      EXPECT_TRUE(percent < 100 || devices(found) == 1) << seed;
      fewer += devices(found) < devices(best);
      twice_fewer += percent == 60 && devices(best) == 4 && devices(found) == 2;
    }
  }
  EXPECT_GT(fewer, 2);
  EXPECT_GT(twice_fewer, 0);  // one is as much worse than that as it may be worse than the best
}

}  // namespace
