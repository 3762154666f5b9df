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
     [](auto& net, int l) {
       --net.parts[l].box.end[2];
       --net.layers[l].output[2];
     }},
    {"a shape that is not that of the region", kind::compute, [](auto& net, int l) { ++net.layers[l].output[2]; }},
    {"a region beyond the layer's result", kind::compute,
     [](auto& net, int l) {
       net.parts[l].box.begin[2] += 100;
       net.parts[l].box.end[2] += 100;
     }},
    {"an operand of another layer", kind::compute, [](auto& net, int l) { net.edges[net.layers[l].first_edge].from = 0; }},
    {"no operand", kind::compute, [](auto& net, int l) { net.layers[l].edges = 0; }},
    {"a cut elsewhere", kind::cut,
     [](auto& net, int l) {
       ++net.parts[l].box.begin[2];
       ++net.parts[l].box.end[2];
     }},
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

/// What damages the turns of a plan of replicas, if there is a place for it; returns whether there was.
struct wrong_turn {
  const char* name;
  std::function<bool(parts::network&, schedule::built_plan&)> does;
};

/// The frames of another replica of the same set.
parts::turn other(const parts::turn& t) { return {t.set, t.member == 0 ? 1 : 0}; }

template <class All, class Wanted> auto* first(All& all, const Wanted& wanted) {
  for (auto& one : all)
    if (wanted(one)) return &one;
  return static_cast<decltype(&all[0])>(nullptr);
}

const wrong_turn wrong_turns[]{
    {"a segment runs in another's turn",
     [](auto&, auto& plan) {
       auto* s = first(plan.segments, [](const auto& one) { return !one.when.always(); });
       return s && (s->when = other(s->when), true);
     }},
    {"a segment of a replica runs always",
     [](auto&, auto& plan) {
       auto* s = first(plan.segments, [](const auto& one) { return !one.when.always(); });
       return s && (s->when = {}, true);
     }},
    {"a message is made in another's turn",
     [](auto&, auto& plan) {
       auto* m = first(plan.messages, [](const auto& one) { return !one.made.always(); });
       return m && (m->made = other(m->made), true);
     }},
    {"a message is read in another's turn",
     [](auto&, auto& plan) {
       auto* m = first(plan.messages, [](const auto& one) { return !one.read.always(); });
       return m && (m->read = other(m->read), true);
     }},
    {"a message that all frames need is sent for some",
     [](auto&, auto& plan) {
       auto* m = first(plan.messages, [](const auto& one) { return one.made.always() && one.read.always(); });
       return m && (m->read = {0, 0}, true);
     }},
    {"a pick of replicas in another order",
     [](auto& net, auto&) {
       const int l = find(net, kind::pick);
       if (l < 0) return false;
       const int e = net.layers[l].first_edge;
       std::swap(net.edges[e].from, net.edges[e + 1].from);
       return true;
     }},
    {"a pick without the last replica",
     [](auto& net, auto&) {
       const int l = find(net, kind::pick);
       return l >= 0 && (--net.layers[l].edges, true);
     }},
    {"a replica elsewhere",
     [](auto& net, auto& plan) {
       const int l = find(net, kind::whole, [&](int k) { return !net.parts[k].when.always(); });
       if (l < 0) return false;
       ++plan.members[plan.replicas[net.parts[l].when.set].first + net.parts[l].when.member].rank;
       return true;
     }},
    {"a layer of a replica in another's turn",
     [](auto& net, auto&) {
       const int l = find(net, kind::whole, [&](int k) { return !net.parts[k].when.always(); });
       return l >= 0 && (net.parts[l].when = other(net.parts[l].when), true);
     }},
    {"a layer of all frames in a replica's turn",
     [](auto& net, auto&) {
       const int l = find(net, kind::whole, [&](int k) { return net.layers[k].is_output; });
       return l >= 0 && (net.parts[l].when = {0, 0}, true);
     }},
    {"a set that is not there",
     [](auto& net, auto&) {
       const int l = find(net, kind::whole, [&](int k) { return !net.parts[k].when.always(); });
       return l >= 0 && (net.parts[l].when = {1000, 0}, true);
     }},
};

TEST(TurnsMatch, DamageIsNoticed) {
  std::vector<int> tried(std::size(wrong_turns));
  for (unsigned seed = 0; seed < 12; ++seed) {
    const test::divided d(seed, 6 + static_cast<int>(seed) % 10, 4, false, true);
    if (d.is.plan.replicas.empty()) continue;
    ASSERT_TRUE(schedule::turns_match(d.is.plan.view(), d.parts()));
    for (std::size_t i = 0; i < std::size(wrong_turns); ++i) {
      auto net = d.is.net;
      auto plan = d.is.plan;
      if (!wrong_turns[i].does(net, plan)) continue;
      EXPECT_FALSE(schedule::turns_match(plan.view(), net.view())) << wrong_turns[i].name << ", seed " << seed;
      ++tried[i];
    }
  }
  for (std::size_t i = 0; i < tried.size(); ++i) EXPECT_GT(tried[i], 0) << wrong_turns[i].name;
}

/// A band of rows that lies elsewhere, with all that reads it there, is refused.
TEST(Bands, ElsewhereIsNoticed) {
  int bands = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const test::divided d(seed, 6 + static_cast<int>(seed) % 14, 4, false);
    const auto& plan = d.is.plan;
    ASSERT_TRUE(schedule::sound(plan.view(), d.parts().net, d.parts().parts)) << seed;
    for (const auto& step : plan.steps) {
      const auto at = step.output;
      if (step.what != schedule::action::compute || at.pitch == 0) continue;
      ++bands;
      for (const auto& [by, pitches] : {std::pair{schedule::alignment, 1}, {std::int64_t{0}, 2}}) {
        auto damaged = plan;
        const auto damage = [&, by = by, pitches = pitches](schedule::place& p) {
          if (p == at) {
            p.offset += by;
            p.pitch *= pitches;
          }
        };
        for (auto& o : damaged.operands) damage(o);
        for (auto& s : damaged.steps) damage(s.output);
        EXPECT_FALSE(schedule::sound(damaged.view(), d.parts().net, d.parts().parts))
            << "seed " << seed << ", " << by << " bytes";
      }
    }
  }
  EXPECT_GT(bands, 0);
}

/// On large images, borders come before interiors.
TEST(Proofs, BordersBeforeInteriors) {
  test::real_network net;
  int at = net.add(ops::input{.extents = {1, 3, 150, 80}}, {});
  for (int i = 0; i < 3; ++i)
    at = net.add(ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {at}, {{32, net.shape(at)[1], 3, 3}});
  net.add(ops::output{}, {at});
  const auto is = test::shared(net, {.cut = placement::geometry::rows}, 3);
  const auto all = is.net.view();
  const auto& plan = is.plan;
  ASSERT_TRUE(schedule::sound(plan.view(), all.net, all.parts));
  using schedule::action;
  // Border, cut, send, and then the rest or another border.
  const auto is_cut = [&](const schedule::step& s) {
    return s.what == action::compute && all.parts[s.layer].what == parts::part::kind::cut;
  };
  std::vector<int> borders;
  for (int s = 0; s + 3 < plan.steps.size(); ++s)
    if (plan.steps[s].what == action::compute && is_cut(plan.steps[s + 1]) && plan.steps[s + 2].what == action::send &&
        plan.steps[s + 3].layer == plan.steps[s].layer)
      borders.push_back(s);
  ASSERT_EQ(borders.size(), 8u);  // of two convolutions: one at the first and the last rank, two at the one in between
  const auto refuses = [&](const char* what, auto damage) {
    for (const int s : borders) {
      auto damaged = plan;
      damage(damaged, s);
      EXPECT_FALSE(schedule::sound(damaged.view(), all.net, all.parts)) << what << ", step " << s;
    }
  };
  refuses("a row that nobody computes", [](auto& p, int s) {
    auto& part = p.steps[s + 3].part;
    part.begin[2] > 0 ? ++part.begin[2] : --part.end[2];
  });
  refuses("a row computed twice", [](auto& p, int s) {
    auto& part = p.steps[s + 3].part;
    part.begin[2] > 0 ? --part.begin[2] : ++part.end[2];
  });
  refuses("all of it again",
          [&](auto& p, int s) { p.steps[s + 3].part = tensor::whole(all.net.layers[p.steps[s].layer].output); });
  refuses("one row twice, another never", [](auto& p, int s) {
    auto& part = p.steps[s + 3].part;
    const int by = part.begin[2] > 0 ? -1 : 1;
    part.begin[2] += by;
    part.end[2] += by;
  });
  refuses("a row outside the result", [&](auto& p, int s) {
    auto& border = p.steps[s].part;
    border.begin[2] == 0 ? --border.begin[2] : ++border.end[2];
  });
  refuses("working memory that ends with the border", [](auto& p, int s) {
    for (auto& b : p.buffers)
      if (b.layer < 0 && b.first_step <= s && b.last_step >= s) b.last_step = s;
  });
  refuses("working memory elsewhere", [](auto& p, int s) { p.steps[s].scratch.offset += schedule::alignment; });
  refuses("no interior", [](auto& p, int s) { p.steps[s + 3] = p.steps[s + 1]; });
  for (const int s : borders) {
    auto damaged = plan;
    damaged.steps[s].output.offset += schedule::alignment;
    damaged.operands[damaged.steps[s + 1].first_operand].offset += schedule::alignment;
    EXPECT_FALSE(schedule::places_match(damaged.view(), all.net)) << "a border and its cut elsewhere, step " << s;
  }
  std::vector<graph::layer_info> layers(all.net.layers.begin(), all.net.layers.end());
  for (auto& l : layers) l.in_place = true;
  auto overwriting = all.net;
  overwriting.layers = {layers.data(), layers.size()};
  EXPECT_FALSE(schedule::reads_follow_writes(plan.view(), overwriting, all.parts)) << "an operand overwritten, then read";
  refuses("a border elsewhere", [](auto& p, int s) { p.steps[s].output.offset += schedule::alignment; });
  refuses("the border last", [](auto& p, int s) { std::swap(p.steps[s].part, p.steps[s + 3].part); });
  refuses("a cut first", [](auto& p, int s) { std::swap(p.steps[s], p.steps[s + 1]); });
}

}  // namespace
