// Plans of mappings as text, made at run time: they equal the compiler's plans of the same words as types, and are sound and
// right for random networks.
#include "dice/schedule/dynamic_plan.hpp"
#include "../convolutions.hpp"
#include "../error_of.hpp"
#include "../sample.hpp"
#include "../seeds.hpp"
#include "dice/placement/text/mistakes.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/schedule/schedule.hpp"
#ifdef DICE_TEST_DIGITS
#include "digits.hpp"
#endif
#include "random_network.hpp"
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace dice;

void expect_equal(const auto& a, const auto& b, const char* what) {
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << what;
}
void expect_same(const schedule::plan_view& a, const schedule::plan_view& b) {
  EXPECT_EQ(a.in_flight, b.in_flight);
  expect_equal(a.ranks, b.ranks, "ranks");
  expect_equal(a.segments, b.segments, "segments");
  expect_equal(a.steps, b.steps, "steps");
  expect_equal(a.operands, b.operands, "operands");
  expect_equal(a.groups, b.groups, "groups");
  expect_equal(a.messages, b.messages, "messages");
  expect_equal(a.buffers, b.buffers, "buffers");
  expect_equal(a.owner, b.owner, "owner");
}

/// A text with its plan.
struct planned {
  placement::text_mapping mapping;
  schedule::dynamic_plan plan;

  planned(std::string_view text, std::string_view name, const graph::network_view& net, const algorithm::tables& tables)
      : mapping(placement::parse(text, name, net)), plan(net, mapping.values(), tables) {}
  std::string mistake() const { return plan.mistake() ? placement::tell(mapping, plan.mistake()) : "none"; }
};
template <class Net> planned plan(const char* text) {
  return {text, Net::name, graph::view_of<Net>, algorithm::tables_of<Net, algorithm::bit(algorithm::backend_of({}))>};
}

template <class Net, class Map> void expect_same(const char* text) {
  SCOPED_TRACE(text);
  const auto p = plan<Net>(text);
  ASSERT_EQ(p.mistake(), "none");
  constexpr auto& wanted = schedule::plan_of<Net, Map>;
  expect_same(p.plan.view(), wanted);
  for (std::size_t g = 0; g < wanted.groups.size(); ++g) {
    const auto& a = p.plan.algorithms()[g];
    const auto& b = schedule::detail::algorithm_table<Net, Map>[wanted.groups[g].anchor];
    EXPECT_EQ(a.variant, b.variant);
    EXPECT_EQ(a.packed_bytes, b.packed_bytes);
    EXPECT_EQ(a.scratch_bytes, b.scratch_bytes);
    EXPECT_EQ(p.plan.backend_of(wanted.groups[g]), algorithm::backend_of(platform::unit{}));
  }
  constexpr auto& devices = placement::of<Net, Map>.devices;
  ASSERT_EQ(p.plan.units().size(), devices.size());
  for (std::size_t r = 0; r < devices.size(); ++r) {
    EXPECT_EQ(p.plan.units()[r].what, devices[r].unit.what);
    EXPECT_EQ(p.plan.units()[r].count, devices[r].unit.count);
    EXPECT_EQ(p.plan.units()[r].direct, devices[r].unit.direct);
    EXPECT_EQ(p.plan.hosts()[r], devices[r].host);
    expect_equal(p.plan.cores()[r], devices[r].cores, "cores");
  }
}
#define SAME(net, ...) expect_same<net::network, __VA_ARGS__>(#__VA_ARGS__)

TEST(DynamicPlan, IsThatOfTheCompiler) {
  SAME(sample, mapping<dev<0>, layers<all>>);
  SAME(sample, mapping<dev<0>, layers<to<sample::relu1>, sample::add1, from<sample::relu2>>, dev<1, threads<2>, on<"b">>,
                       layers<sample::conv2>, in_flight<3>>);
  SAME(sample, split<sample::network, points<4>, dev<1, cores<1, 0>>, dev<0, cpu, on<"a">>, in_flight<9>>);
  SAME(sample, split<sample::network, points<2, 3, 5, 8>, dev<1>, dev<3>, dev<0>, dev<4>, dev<2>>);
  SAME(sample, mapping<dev<0, cpu, memory<1_MiB>>, layers<all>>);
  SAME(convolutions, mapping<dev<0>, layers<all>>);
  SAME(convolutions, mapping<dev<0, cpu, direct_convolutions>, layers<all>>);
  SAME(convolutions, mapping<dev<0, cpu, memory<1_MiB>, direct_convolutions>, layers<to<convolutions::narrow>>, dev<1>,
                             layers<from<convolutions::wide>>>);
#ifdef DICE_WITH_OPENMP  // the reference has a single algorithm
  // With a limit that the fastest algorithms exceed by one byte.
  using free = split<convolutions::network, points<2>, dev<0>, dev<1>>;
  constexpr auto limit = schedule::plan_of<convolutions::network, free>.ranks[1].peak_bytes - 1;
  expect_same<convolutions::network, split<convolutions::network, points<2>, dev<0>, dev<1, cpu, memory<limit>>>>(
      ("split<network, points<2>, dev<0>, dev<1, cpu, memory<" + std::to_string(limit) + ">>>").c_str());
#endif
}

#ifdef DICE_TEST_DIGITS
TEST(DynamicPlan, IsThatOfTheCompilerForTheExample) {
  SAME(digits, dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::range<digits::picture, digits::pool2>>,
                             dice::dev<1, dice::cpu>, dice::layers<dice::range<digits::conv3, digits::scores>>>);
  SAME(digits, mapping<dev<0>, layers<all>, in_flight<4>>);
  SAME(digits,
       mapping<dev<0, cores<0, 1>, memory<512_KiB>>, layers<to<digits::pool2>>, dev<1, cpu>, layers<from<digits::conv3>>>);
  SAME(digits, split<digits::network, points<digits::conv3::id>, dev<0, cpu>, dev<1, cpu>>);
}
#endif

// If the fastest algorithms are too large, those that save memory are used; otherwise the rank with too little is named.
TEST(DynamicPlan, MemoryLimitsAreKeptOrTold) {
  const auto free = plan<convolutions::network>("mapping<dev<0>, layers<all>>");
  const auto most = free.plan.view().ranks[0].peak_bytes;
  const auto within = [](std::int64_t bytes) {
    return plan<convolutions::network>(("mapping<dev<0, cpu, memory<" + std::to_string(bytes) + ">>, layers<all>>").c_str());
  };
  EXPECT_EQ(within(most).mistake(), "none");
  const auto least = within(1);
  EXPECT_EQ(least.plan.mistake().what, placement::mistake::memory_limit_less_than_plan);
  const auto needed = least.plan.mistake().bytes;
  EXPECT_LE(needed, most);
  EXPECT_EQ(least.mistake(), "line 1, column 9: memory_limit_less_than_plan: rank 0 needs at least " +
                                 std::to_string(needed) +
                                 " bytes, and may have 1; raise the limit or move layers to another device");
  EXPECT_EQ(within(needed).mistake(), "none");
  EXPECT_LE(within(needed).plan.view().ranks[0].peak_bytes, needed);
}

TEST(DynamicPlan, UnitsNeedABackendOfTheProgram) {
  using net = sample::network;
  const auto first = [](std::string_view text, const algorithm::tables& tables) {
    return planned(text, net::name, graph::view_of<net>, tables).mistake();
  };
  const auto told =
      "line 1, column 16: unit_without_backend: 'gpu' has no backend in this program, whose compiled mapping has no such "
      "unit: start one whose mapping has; link dice::cudnn or use a "
      "cpu unit";
  auto tables = algorithm::tables_of<net, algorithm::bit(algorithm::backend_of({}))>;
  EXPECT_EQ(first("mapping<dev<0, gpu>, layers<image>>", tables), told);
  // A program with a GPU backend, but not with all precisions.
  tables.chosen[algorithm::backend::cudnn] = algorithm::choices_of<net, algorithm::backend::cudnn>;
  EXPECT_EQ(first("mapping<dev<0, gpu>, layers<all>>", tables), "none");
  EXPECT_EQ(first("mapping<dev<0, gpu, precision<fp16>>, layers<all>>", tables), told);
  tables.chosen = {};
  EXPECT_EQ(
      first("mapping<dev<0, cpu>, layers<all>>", tables),
      "line 1, column 16: unit_without_backend: 'cpu' has no backend in this program, whose compiled mapping has no such "
      "unit: start one whose mapping has; link dice::cudnn or use a "
      "cpu unit");
}

TEST(DynamicPlan, EachProofRefuses) {
  using net = convolutions::network;
  const auto whole = graph::view_of<net>;
  const meta::view<graph::any_operator> operators{schedule::detail::operators_of<net>.data(), net::size};
  const auto mapping = placement::parse(
      "mapping<dev<0>, layers<image, features>, dev<1>, dev<2>, replicas<range<narrow, wide>>>", net::name, whole);
  const schedule::dynamic_plan plan(whole, mapping.values(),
                                    algorithm::tables_of<net, algorithm::bit(algorithm::backend_of({}))>, operators,
                                    graph::parameters_of<net>);
  ASSERT_FALSE(plan.mistake());
  const auto all = plan.parts();
  std::vector<algorithm::choice> how(all.net.layers.size());
  for (std::size_t g = 0; g < plan.algorithms().size(); ++g) how[plan.view().groups[g].anchor] = plan.algorithms()[g];
  EXPECT_TRUE(schedule::detail::are_sound(plan.view(), all, how, whole, operators));

  auto stuck = plan.view();
  stuck.in_flight = 0;
  EXPECT_FALSE(schedule::detail::are_sound(stuck, all, how, whole, operators));
  auto others = plan.view();
  std::vector<schedule::segment> segments(others.segments.begin(), others.segments.end());
  segments[2].when = {};  // a replica's
  others.segments = segments;
  EXPECT_FALSE(schedule::detail::are_sound(others, all, how, whole, operators));
  auto blocked = how;
  for (auto& a : blocked) a.works = a.works == algorithm::form::plain ? algorithm::form::blocked : algorithm::form::plain;
  EXPECT_FALSE(schedule::detail::are_sound(plan.view(), all, blocked, whole, operators));
  auto wrong = all;
  std::vector<parts::part> parts(all.parts.begin(), all.parts.end());
  parts[0].layer = 1;  // twice there, and the input never
  wrong.parts = parts;
  EXPECT_FALSE(schedule::detail::are_sound(plan.view(), wrong, how, whole, operators));
}

// Two operands of a Concat at one place, which no network has: the second overwrites the first.
TEST(DynamicPlan, AnUnsoundPlanIsRefusedUnlessItIsOnlyRated) {
  test::network net;
  net.add("Input", {1, 4, 2, 2}, {}).is_input = true;
  for (int k = 0; k < 2; ++k) net.add("Conv", {1, 4, 2, 2}, {0});
  net.add_concat({1, 8, 2, 2}, {1, 2});
  net.add_output(3);
  for (auto& l : net.layers) l.name = "l";
  const std::vector<algorithm::choice> how(net.layers.size());
  algorithm::tables tables;
  tables.chosen[algorithm::backend_of({})] = how;
  const auto mapping = placement::parse("mapping<dev<0>, layers<all>>", "net", net.view());
  EXPECT_NO_THROW(schedule::dynamic_plan(net.view(), mapping.values(), tables));
  net.edges[3].joins = 0;
  EXPECT_THROW(schedule::dynamic_plan(net.view(), mapping.values(), tables), std::logic_error);
  EXPECT_NO_THROW(schedule::dynamic_plan(net.view(), mapping.values(), tables, {}, {}, schedule::proofs::omitted));
}

TEST(DynamicPlan, IsMovedWithItsMapping) {
  auto p = plan<sample::network>("mapping<dev<0, cores<1, 0>, on<\"a\">>, layers<all>>");
  const auto moved = std::move(p);
  EXPECT_EQ(moved.plan.hosts()[0], "a");
  EXPECT_EQ(moved.plan.cores()[0][0], 1);
  EXPECT_EQ(moved.plan.view().ranks.size(), 1u);
  EXPECT_EQ(moved.mistake(), "none");
}

/// A random mapping as text, and its meaning.
struct random_mapping {
  std::string text;
  std::vector<int> owner;
  int ranks = 1, in_flight = 1;

  random_mapping(unsigned seed, const graph::network_view& net) : draw_(seed) {
    const int n = net.size();
    ranks = std::min(n, 1 + below(8));
    const bool runs = below(2);
    owner.resize(net.layers.size());
    for (int l = 0; l < n; ++l) owner[at(l)] = l < ranks ? l : runs && below(4) ? owner[at(l - 1)] : below(ranks);
    in_flight = placement::default_in_flight(ranks);
    std::vector<int> order(at(ranks));
    for (int r = 0; r < ranks; ++r) order[at(r)] = r;
    std::shuffle(order.begin(), order.end(), draw_);
    text = dice() + "mapping<";
    const auto frames = [&] {
      in_flight = 1 + below(5);
      return dice() + "in_flight<" + std::to_string(in_flight) + ">";
    };
    const int stated = below(3);  // before the devices, after them, or not at all
    if (stated == 0) text += frames() + ", ";
    for (const int r : order) {
      text += (r == order[0] ? ""
               : below(2)    ? ", "
                             : ",\n\t") +
              dice() + "dev<" + std::to_string(r) + (below(2) ? ">, " : ", " + dice() + "threads<3> >, ") + dice() +
              "layers<" + list(net, r) + ">";
    }
    if (stated == 1) text += "," + frames();
    text += ">";
    if (below(2)) text = "using plan = " + text + ";\n// that is all\n";
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int below(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }
  std::string dice() { return below(3) ? "" : "dice::"; }
  /// The layers of a rank in any order, some twice.
  std::string list(const graph::network_view& net, int rank) {
    const int n = net.size();
    const auto layer = [&](int l) { return (below(2) ? "net::" : "") + std::string(net.layers[at(l)].name); };
    std::vector<std::string> parts;
    for (int l = 0; l < n; ++l) {
      if (owner[at(l)] != rank) continue;
      int last = l;
      while (last + 1 < n && owner[at(last + 1)] == rank && below(9)) ++last;
      if (l == 0 && last == n - 1 && below(2)) parts.push_back(dice() + "all");
      else if (l == 0 && below(2)) parts.push_back(dice() + "to<" + layer(last) + ">");
      else if (last == n - 1 && below(2)) parts.push_back(dice() + "from<" + layer(l) + ">");
      else if (last > l || !below(3)) parts.push_back(dice() + "range<" + layer(l) + ", " + layer(last) + ">");
      else parts.push_back(layer(l));
      if (!below(5)) parts.push_back(layer(l + below(last - l + 1)));
      l = last;
    }
    std::shuffle(parts.begin(), parts.end(), draw_);
    std::string out;
    for (const auto& p : parts) out += (out.empty() ? "" : ", ") + p;
    return out;
  }

  std::mt19937 draw_;
};

// As in schedule_test.cpp, but starting from text.
TEST(DynamicPlan, RandomTextsBecomePlansThatAreSoundAndMoveTheRightValues) {
  for (const unsigned seed : test::seeds(test::plans(400), {})) {
    SCOPED_TRACE(seed);
    test::random_network net(seed * 7919, 3 + static_cast<int>(seed % 40));
    std::vector<std::string> names;
    for (int l = 0; l < net.size(); ++l) names.push_back("layer" + std::to_string(l));
    for (std::size_t l = 0; l < names.size(); ++l) net.layers[l].name = names[l];
    std::mt19937 draw(seed);
    std::vector<algorithm::choice> algorithms(net.layers.size());
    for (auto& a : algorithms)
      a = {.packed_bytes = static_cast<std::int64_t>(draw() % 3) * 100,
           .scratch_bytes = static_cast<std::int64_t>(draw() % 3) * 100,
           .pools_2x2 = draw() % 3 != 0};
    algorithm::tables tables;
    tables.chosen[algorithm::backend_of({})] = algorithms;
    const random_mapping m(seed, net.view());
    const planned p(m.text, "net", net.view(), tables);
    ASSERT_EQ(p.mistake(), "none") << m.text;
    std::vector<platform::device> devices;
    for (int r = 0; r < m.ranks; ++r) devices.push_back({.rank = r});
    const auto built = schedule::build({net.view(), m.owner, devices, algorithms, m.in_flight});
    expect_same(p.plan.view(), built.view());
    ASSERT_EQ(test::simulation(net.view(), p.plan.view(), algorithms, 5, seed).run(), "");
  }
}

}  // namespace
