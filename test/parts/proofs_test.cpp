// parts_match against networks of parts that are damaged in one place each.
#include "divided.hpp"

#include "dice/parts/proofs.hpp"
#include "dice/schedule/proofs.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <functional>
#include <utility>

namespace {

using namespace dice;
using kind = parts::part::kind;

/// The first layer of a network of parts of this kind that `wanted` accepts, or -1.
int find(
    const parts::network& net, kind what, const std::function<bool(int)>& wanted = [](int) { return true; }) {
  for (int l = 0; l < net.parts.size(); ++l)
    if (net.parts[l].what == what && wanted(l)) return l;
  return -1;
}

struct damage {
  const char* name;
  kind to;
  std::function<void(parts::network&, int)> does;
};

const damage damages[]{
    {"a region that its operator does not compute", kind::compute,
     [](auto& net, int l) { --net.parts[l].box.end[2], --net.layers[l].output[2]; }},
    {"a shape that is not that of the region", kind::compute, [](auto& net, int l) { ++net.layers[l].output[2]; }},
    {"a region beyond the layer's result", kind::compute,
     [](auto& net, int l) { net.parts[l].box.begin[2] += 100, net.parts[l].box.end[2] += 100; }},
    {"an operand of another layer", kind::compute, [](auto& net, int l) { net.edges[net.layers[l].first_edge].from = 0; }},
    {"no operand", kind::compute, [](auto& net, int l) { net.layers[l].edges = 0; }},
    {"a cut elsewhere", kind::cut, [](auto& net, int l) { ++net.parts[l].box.begin[2], ++net.parts[l].box.end[2]; }},
    {"a cut by another operator", kind::cut, [](auto& net, int l) { net.operators[net.restricted[l]] = ops::identity{}; }},
    {"a join with a gap", kind::join,
     [](auto& net, int l) { net.edges[net.layers[l].first_edge + 1].from = net.edges[net.layers[l].first_edge].from; }},
    {"a join that ends early", kind::join, [](auto& net, int l) { --net.layers[l].edges; }},
    {"a join of another order", kind::join,
     [](auto& net, int l) {
       std::swap(net.edges[net.layers[l].first_edge].from, net.edges[net.layers[l].first_edge + 1].from);
     }},
    {"a whole layer twice", kind::whole, [](auto& net, int l) { net.parts[l].layer = 0; }},
    {"a sum with one part twice", kind::sum,
     [](auto& net, int l) { net.edges[net.layers[l].first_edge + 1].from = net.edges[net.layers[l].first_edge].from; }},
    {"a sum without its last part", kind::sum, [](auto& net, int l) { --net.layers[l].edges; }},
    {"a partial sum of other channels", kind::partial, [](auto& net, int l) { ++net.parts[l].from; }},
};

TEST(PartsMatch, DamageIsNoticed) {
  std::vector<int> tried(std::size(damages));
  for (unsigned seed = 0; seed < 60; ++seed) {
    const test::divided d(seed, 6 + static_cast<int>(seed) % 14, 4, seed % 2 == 0);
    const auto whole = d.net.view();
    ASSERT_TRUE(parts::parts_match(whole, d.net.all_operators(), d.parts()));
    for (std::size_t i = 0; i < std::size(damages); ++i) {
      const auto& how = damages[i];
      const int l = find(d.is.net, how.to, [&](int k) {
        const auto& info = d.is.net.layers[k];
        if (how.to == kind::whole) return info.is_output;
        if (how.to == kind::join)
          return info.edges > 1 && d.is.net.edges[info.first_edge].from != d.is.net.edges[info.first_edge + 1].from;
        const auto& part = d.is.net.parts[k];
        return how.to == kind::sum || how.to == kind::partial ||
               (info.output.rank == 4 && part.box.end[2] - part.box.begin[2] > 1 && info.output[2] < part.of[2] &&
                part.box.end[2] < part.of[2] && d.is.net.parts[d.is.net.edges[info.first_edge].from].layer != 0);
      });
      if (l < 0) continue;
      auto damaged = d.is.net;
      how.does(damaged, l);
      EXPECT_FALSE(parts::parts_match(whole, d.net.all_operators(), damaged.view())) << how.name << ", seed " << seed;
      ++tried[i];
    }
  }
  for (std::size_t i = 0; i < tried.size(); ++i) EXPECT_GT(tried[i], 0) << damages[i].name;
}

/// A band of rows that lies elsewhere, with all that reads it there, is refused.
TEST(Bands, ElsewhereIsNoticed) {
  int bands = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const test::divided d(seed, 6 + static_cast<int>(seed) % 14, 4, false);
    const auto& plan = d.is.plan;
    ASSERT_TRUE(schedule::sound(plan.view(), d.parts().net)) << seed;
    for (const auto& step : plan.steps) {
      const auto at = step.output;
      if (step.what != schedule::action::compute || at.pitch == 0) continue;
      ++bands;
      for (const auto& [by, pitches] : {std::pair{schedule::alignment, 1}, {std::int64_t{0}, 2}}) {
        auto damaged = plan;
        const auto damage = [&, by = by, pitches = pitches](schedule::place& p) {
          if (p == at) p.offset += by, p.pitch *= pitches;
        };
        for (auto& o : damaged.operands) damage(o);
        for (auto& s : damaged.steps) damage(s.output);
        EXPECT_FALSE(schedule::sound(damaged.view(), d.parts().net)) << "seed " << seed << ", " << by << " bytes";
      }
    }
  }
  EXPECT_GT(bands, 0);
}

}  // namespace
