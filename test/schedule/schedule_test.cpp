#include "dice/schedule/schedule.hpp"
#include "../sample.hpp"
#include "../seeds.hpp"
#include "random_network.hpp"
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace {

using namespace dice;
using dice::schedule::action;
using dice::schedule::place;
using dice::schedule::space;

// The sample network on one rank: convolution, sum and activation are one step, the Concat's operands are in place.
using one = mapping<dev<0, cpu>, layers<all>>;
constexpr auto plan_one = schedule::plan_of<sample::network, one>;
static_assert(plan_one.messages.empty() && plan_one.segments.size() == 1);
static_assert(plan_one.ranks[0].slots == 1 && plan_one.ranks[0].frame_bytes == 0);
static_assert(plan_one.ranks[0].macs == 64 * 4 * 27 + 64 * 4 * 4 + 1280);
static_assert(plan_one.groups.size() == 6);
static_assert(plan_one.groups[1].anchor == sample::conv2::id && plan_one.groups[1].residual == sample::add1::id &&
              plan_one.groups[1].activation == sample::relu2::id && plan_one.groups[1].residual_operand == 1);

// A-B-A with a skip: sum and convolution are on different ranks, so nothing is fused.
using back = mapping<dev<0, cpu>, layers<to<sample::relu1>, sample::add1, from<sample::relu2>>, dev<1, cpu>,
                     layers<sample::conv2>, in_flight<4>>;
constexpr auto plan_back = schedule::plan_of<sample::network, back>;
static_assert(plan_back.messages.size() == 2 && plan_back.in_flight == 4);
static_assert(plan_back.messages[0].from == 0 && plan_back.messages[0].to == 1 && plan_back.messages[0].tag == 1);
static_assert(plan_back.messages[0].bytes == 4 * 64 * 4 && plan_back.messages[1].layer == sample::conv2::id);
static_assert(plan_back.ranks[0].last_segment - plan_back.ranks[0].first_segment == 2);
static_assert(plan_back.ranks[0].slots == 4 && plan_back.ranks[1].slots == 3);

// A rank with messages and one segment needs three frames' blocks if as many are in flight.
template <int Frames>
constexpr auto plan_split =
    schedule::plan_of<sample::network, split<sample::network, points<4>, dev<0>, dev<1>, in_flight<Frames>>>;
static_assert(plan_split<1>.ranks[0].slots == 1 && plan_split<2>.ranks[1].slots == 2 && plan_split<9>.ranks[0].slots == 3);

/// Random algorithms: those that work on blocks convert, but Concats only if their inputs begin at whole blocks.
std::vector<algorithm::choice> some_algorithms(const graph::network_view& net, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<algorithm::choice> out(net.layers.size());
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(draw() % n); };
  for (int l = 0; l < net.size(); ++l) {
    auto& a = out[l];
    a = {.packed_bytes = below(3) * 100,
         .scratch_bytes = below(3) ? 0 : below(300),
         .converts = below(4) != 0,
         .pools_2x2 = below(3) != 0};
    bool blocks = a.converts;
    const auto in = net.into(l);
    if (net.layers[l].op == "Concat")
      for (const auto& e : in.subview(0, in.size() - 1)) {
        const auto& s = net.layers[e.from].output;
        blocks = blocks && s.rank == 4 && s[1] % 16 == 0;
      }
    if (blocks)
      a.works = std::array{algorithm::form::plain, algorithm::form::blocked, algorithm::form::first,
                           algorithm::form::either}[draw() % 4];
  }
  return out;
}

constexpr tensor::number elements[]{tensor::number::float32, tensor::number::int8, tensor::number::float16,
                                    tensor::number::float32, tensor::number::int64};

struct drawn {
  test::random_network net;
  std::vector<int> owner;
  std::vector<platform::device> devices;
  std::vector<algorithm::choice> algorithms;
  int in_flight;

  drawn(unsigned seed, int size) : net(seed, size, elements[seed % std::size(elements)]) {
    std::mt19937 draw(seed + 1);
    const int n = static_cast<int>(net.layers.size()), ranks = std::min(n, 1 + static_cast<int>(draw() % 8));
    const bool runs = draw() % 2;  // runs of layers, or each layer by itself
    owner.resize(net.layers.size());
    for (int l = 0; l < n; ++l)
      owner[l] = runs && l && draw() % 4 ? owner[static_cast<std::size_t>(l) - 1] : static_cast<int>(draw()) & 0x7fffffff;
    for (int l = 0; l < n; ++l) owner[l] = l < ranks ? l : owner[l] % ranks;
    for (int r = 0; r < ranks; ++r) devices.push_back({r, {}, -1});
    algorithms = some_algorithms(net.view(), seed + 2);
    in_flight = 1 + static_cast<int>(draw() % 5);
  }
  schedule::built_plan plan() const { return schedule::build({net.view(), owner, devices, algorithms, in_flight}); }
};

TEST(Schedule, RandomPlansAreSoundAndMoveTheRightValues) {
  // 6108: a Concat that lies within another tensor, and must not move into a second one.
  for (const unsigned seed : test::seeds(test::plans(3000), {6108})) {
    const drawn d(seed * 7919, 3 + static_cast<int>(seed % 40));
    const auto plan = d.plan();
    const auto view = plan.view();
    ASSERT_TRUE(schedule::messages_match(view, d.net.view())) << "seed " << seed;
    ASSERT_TRUE(schedule::layouts_fit(view, d.net.view(), d.algorithms)) << "seed " << seed;
    ASSERT_TRUE(schedule::reads_follow_writes(view, d.net.view())) << "seed " << seed;
    ASSERT_TRUE(schedule::places_match(view, d.net.view())) << "seed " << seed;
    ASSERT_TRUE(schedule::buffers_disjoint(view, d.net.view())) << "seed " << seed;
    ASSERT_TRUE(schedule::no_wait_cycle(view)) << "seed " << seed;
    ASSERT_EQ(test::simulation(d.net.view(), view, d.algorithms, 7, seed).run(), "") << "seed " << seed;
  }
}

TEST(Schedule, NoArenaIsSmallerThanItsLargestStep) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const drawn d(seed, 30);
    const auto plan = d.plan();
    for (const auto& s : plan.steps)
      if (s.what == action::compute) {
        EXPECT_GE(plan.ranks[plan.groups[s.group].rank].arena_bytes, d.net.layers[s.layer].output.bytes());
      }
  }
}

// A kernel that gets an operand, the residual's or its result in another layout than it works in.
TEST(Schedule, LayoutsOfKernelsAreProved) {
  int operands = 0, residuals = 0, results = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const drawn d(seed * 7919, 30);
    auto plan = d.plan();
    const auto refuses = [&](schedule::place& at, const tensor::shape& of, int& count) {
      const auto before = at.layout;
      at.layout = test::other(before);
      const bool same = !algorithm::must_convert(of, before, at.layout);
      EXPECT_EQ(schedule::layouts_fit(plan.view(), d.net.view(), d.algorithms), same);
      at.layout = before;
      count += !same;
    };
    for (auto& s : plan.steps) {
      if (s.what != action::compute) continue;
      const auto& g = plan.groups[s.group];
      const auto in = d.net.view().into(g.anchor);
      if (d.algorithms[g.anchor].works == algorithm::form::either) continue;  // takes what it is given
      for (int k = 0; k < s.operands; ++k)
        if (k < static_cast<int>(in.size()))
          refuses(plan.operands[s.first_operand + k], d.net.layers[in[k].from].output, operands);
        else refuses(plan.operands[s.first_operand + k], d.net.layers[s.layer].output, residuals);
      refuses(s.output, d.net.layers[s.layer].output, results);
    }
  }
  EXPECT_TRUE(operands > 100 && residuals > 5 && results > 100) << operands << ' ' << residuals << ' ' << results;
}

TEST(Schedule, ProofsRefuseDamagedPlans) {
  int broken = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const drawn d(seed * 31, 25);
    auto plan = d.plan();
    if (plan.messages.empty()) continue;
    ++broken;
    auto tags = plan;
    tags.messages[0].tag += 1;
    EXPECT_FALSE(schedule::messages_match(tags.view(), d.net.view()));
    auto size = plan;
    ++size.messages[0].bytes;
    EXPECT_FALSE(schedule::messages_match(size.view(), d.net.view()));
    auto layout = plan;
    for (auto& m : layout.messages) m.at_receiver.layout = test::other(m.at_receiver.layout);
    EXPECT_FALSE(schedule::messages_match(layout.view(), d.net.view()));
    auto small = plan;
    for (auto& b : small.buffers)
      if (b.layer >= 0) --b.bytes;
    EXPECT_FALSE(schedule::buffers_disjoint(small.view(), d.net.view()));
    for (const auto& r : plan.ranks) {  // a step reads before the rank's first write
      auto late = plan;
      auto* first = std::find_if(late.steps.begin() + r.first_step, late.steps.begin() + r.last_step,
                                 [](const auto& s) { return s.what == action::send || s.what == action::compute; });
      if (first == late.steps.begin() + r.last_step || first == late.steps.begin() + r.first_step) continue;
      std::swap(*first, late.steps[r.first_step]);
      EXPECT_FALSE(schedule::reads_follow_writes(late.view(), d.net.view())) << "seed " << seed << ", rank " << r.rank;
    }
    auto lost = plan;
    for (auto& s : lost.steps)
      if (s.what == action::send) {
        s.what = action::compute;
        break;
      }
    EXPECT_FALSE(schedule::messages_match(lost.view(), d.net.view()));
    auto none = plan;
    none.ranks[0].slots = 0;
    EXPECT_FALSE(schedule::no_wait_cycle(none.view()));
  }
  EXPECT_GT(broken, 100);
}

// Moves every place that is read, and every place of a received tensor that a step reads, or changes its layout.
TEST(Schedule, PlacesThatDoNotMatchAreFound) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const drawn d(seed * 17, 25);
    const auto net = d.net.view();
    auto plan = d.plan();
    const auto refuses = [&](place& at) {
      const place right = at;
      const auto refused = [&] {
        EXPECT_FALSE(schedule::places_match(plan.view(), net)) << "seed " << seed;
        at = right;
      };
      at.layout = test::other(at.layout);
      refused();
      at.offset += schedule::alignment;
      refused();
      at.where = at.where == space::frame ? space::scratch : space::frame;
      refused();
    };
    for (auto& o : plan.operands) refuses(o);
    for (auto& s : plan.steps) {
      if (s.what == action::leave) refuses(s.output);
      if (s.what == action::send) refuses(plan.messages[s.message].at_sender);
      if (s.what != action::compute) continue;
      const auto& g = plan.groups[s.group];
      for (const auto& e : net.into(g.anchor))
        for (auto& m : plan.messages)
          if (m.layer == e.from && m.to == g.rank) refuses(m.at_receiver);
    }
    EXPECT_TRUE(schedule::places_match(plan.view(), net));
  }
}

TEST(Schedule, OverlapAndCyclesAreFound) {
  // Two buffers of one rank at the same place and time.
  schedule::built_plan p;
  p.ranks.push_back({.rank = 0,
                     .first_step = 0,
                     .last_step = 2,
                     .first_segment = 0,
                     .last_segment = 1,
                     .first_buffer = 0,
                     .last_buffer = 2,
                     .scratch_bytes = 128});
  p.segments.push_back({0, 2});
  p.steps.push_back({});
  p.steps.push_back({});
  p.buffers.push_back({{.where = space::scratch, .offset = 0}, 64, 0, 1, 0});
  p.buffers.push_back({{.where = space::scratch, .offset = 64}, 64, 1, 1, 1});
  std::array<graph::layer_info, 2> layers;
  layers[0].output = layers[1].output = {16};
  const graph::network_view two{layers, {}};
  EXPECT_TRUE(schedule::buffers_disjoint(p.view(), two));
  p.buffers[1].at.offset = 0;
  EXPECT_FALSE(schedule::buffers_disjoint(p.view(), two));
  p.buffers[1].at.offset = 64;
  p.buffers[0].bytes = 128;  // the second begins within the first
  EXPECT_FALSE(schedule::buffers_disjoint(p.view(), two));

  // Two ranks that each send only after having received.
  schedule::built_plan q;
  for (int r = 0; r < 2; ++r) {
    q.ranks.push_back({.rank = r, .first_step = 2 * r, .last_step = 2 * r + 2, .first_segment = r, .last_segment = r + 1});
    q.segments.push_back({2 * r, 2 * r + 2});
    q.steps.push_back({.what = action::receive, .message = 1 - r});
    q.steps.push_back({.what = action::send, .message = r});
    q.messages.push_back({.from = r, .to = 1 - r, .tag = 1, .layer = r, .bytes = 4});
  }
  EXPECT_FALSE(schedule::no_wait_cycle(q.view()));
}

// Weights count as kernels read them: packed if the algorithm packs.
TEST(Schedule, PeakIsWeightsAndArena) {
  const auto net = graph::view_of<sample::network>;
  const std::vector<int> owner(net.layers.size(), 0);
  const std::vector<platform::device> devices{{0, {}, -1}};
  std::vector<algorithm::choice> algorithms(net.layers.size());
  const auto plain = schedule::build({net, owner, devices, algorithms, 1});
  EXPECT_EQ(plain.ranks[0].weight_bytes, 4 * (4 * 3 * 9 + 4 + 4 * 4 + 10 * 128 + 10));
  EXPECT_EQ(plain.ranks[0].peak_bytes, plain.ranks[0].weight_bytes + plain.ranks[0].arena_bytes);
  algorithms[sample::conv2::id] = {.packed_bytes = 1000, .scratch_bytes = 100'000};
  const auto packed = schedule::build({net, owner, devices, algorithms, 1});
  EXPECT_EQ(packed.ranks[0].weight_bytes, plain.ranks[0].weight_bytes - 4 * 4 * 4 + 1000);
  EXPECT_GE(packed.ranks[0].arena_bytes, 100'000);
}

// The same functions at compile time and at run time.
TEST(Schedule, CompileTimeAndRunTimeAgree) {
  const auto& where = placement::of<sample::network, back>;
  const auto plan = schedule::build({graph::view_of<sample::network>, where.owner, where.devices,
                                     schedule::detail::algorithm_table<sample::network, back>, where.in_flight});
  const auto a = plan.view();
  const auto& b = plan_back;
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t s = 0; s < a.steps.size(); ++s) {
    EXPECT_EQ(a.steps[s].what, b.steps[s].what);
    EXPECT_EQ(a.steps[s].layer, b.steps[s].layer);
    EXPECT_EQ(a.steps[s].output, b.steps[s].output);
    EXPECT_EQ(a.steps[s].part, b.steps[s].part);
  }
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (std::size_t i = 0; i < a.buffers.size(); ++i) EXPECT_EQ(a.buffers[i].at, b.buffers[i].at);
  for (std::size_t r = 0; r < a.ranks.size(); ++r) EXPECT_EQ(a.ranks[r].peak_bytes, b.ranks[r].peak_bytes);
}

// Convolution, activation and pooling form one group if the kernel can take the maximum first.
TEST(Schedule, PoolingJoinsAConvolution) {
  struct parts {
    bool pools_2x2 = true, monotonic = true, activation_first = true, residual = false, read_twice = false;
    int pool_rank = 0;
  };
  const auto groups = [](const parts& with) {
    test::network net;
    net.add("Input", {1, 8, 4, 4}, {}).is_input = true;
    net.add("Conv", {1, 8, 4, 4}, {0}).fuses = {.takes_residual = true, .takes_activation = true};
    if (with.residual) net.add("Add", {1, 8, 4, 4}, {0, 1}).fuses = {.takes_activation = true, .is_residual = true};
    const auto activation = [&](const tensor::shape& s) {
      net.add("Relu", s, {net.size() - 1}).fuses = {.function = {dice::graph::activation::kind::relu},
                                                    .monotonic = with.monotonic};
    };
    if (with.activation_first) activation({1, 8, 4, 4});
    net.add("MaxPool", {1, 8, 2, 2}, {net.size() - 1}).fuses.pools_2x2 = true;
    const int pool = net.size() - 1;
    if (!with.activation_first) activation({1, 8, 2, 2});
    net.add("MaxPool", {1, 8, 1, 1}, {net.size() - 1}).fuses.pools_2x2 = true;  // a second pooling is a group of its own
    net.add_output(net.size() - 1);
    if (with.read_twice) net.add_output(pool - 1);
    std::vector<int> owner(net.layers.size(), 0);
    owner[pool] = with.pool_rank;
    std::vector<platform::device> devices{{0, {}, -1}};
    if (with.pool_rank) devices.push_back({1, {}, -1});
    std::vector<algorithm::choice> algorithms(net.layers.size());
    algorithms[1].pools_2x2 = with.pools_2x2;
    const auto plan = schedule::build({net.view(), owner, devices, algorithms, 1});
    EXPECT_TRUE(schedule::sound(plan.view(), net.view()));
    EXPECT_EQ(test::simulation(net.view(), plan.view(), algorithms, 3, 1).run(), "");
    if (plan.groups.size() == 2) {
      EXPECT_EQ(plan.groups[0].layers(), (std::array{1, -1, 2, 3}));
      EXPECT_EQ(plan.groups[0].output(), 3);
    }
    return plan.groups.size();
  };
  EXPECT_EQ(groups({}), 2);
  EXPECT_EQ(groups({.activation_first = false}), 2);
  EXPECT_EQ(groups({.monotonic = false, .activation_first = false}), 2);
  EXPECT_EQ(groups({.monotonic = false}), 3);
  EXPECT_EQ(groups({.pools_2x2 = false}), 3);
  EXPECT_EQ(groups({.residual = true}), 3);
  EXPECT_EQ(groups({.read_twice = true}), 3);
  EXPECT_EQ(groups({.pool_rank = 1}), 3);
}

// A Concat chain as in DenseNet: each joins all tensors so far, and all of them lie in the last one.
TEST(Schedule, GrowingConcatsShareOneBuffer) {
  test::network net;
  net.add("Input", {1, 8, 4, 4}, {}).is_input = true;
  net.add("Conv", {1, 8, 4, 4}, {0});
  std::vector<int> features{1};
  for (int k = 0; k < 6; ++k) {
    if (features.size() > 1) net.add_concat({1, 8 + 4 * k, 4, 4}, features);
    net.add("Conv", {1, 4, 4, 4}, {net.size() - 1});
    features.push_back(net.size() - 1);
  }
  net.add_concat({1, 32, 4, 4}, features);
  const int last = net.size() - 1;
  net.add_output(last);
  const std::vector<int> owner(net.layers.size(), 0);
  const std::vector<platform::device> devices{{0, {}, -1}};
  const std::vector<algorithm::choice> algorithms(net.layers.size());
  const auto plan = schedule::build({net.view(), owner, devices, algorithms, 1});
  EXPECT_TRUE(schedule::sound(plan.view(), net.view()));
  EXPECT_EQ(test::simulation(net.view(), plan.view(), algorithms, 2, 1).run(), "");
  for (const auto& s : plan.steps) EXPECT_TRUE(s.what != action::compute || net.layers[s.layer].op != "Concat");
  EXPECT_EQ(plan.ranks[0].arena_bytes, net.layers[0].output.bytes() + net.layers[last].output.bytes());
}

// a and b are joined, and a is read again behind the cut: it comes within the Concat, once.
TEST(Schedule, ATensorWithinAConcatIsSentOnce) {
  const std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
  const auto plan_with = [&](int reader_of_a_before) {
    test::network net;
    net.add("Input", {1, 8, 4, 4}, {}).is_input = true;
    net.add("Conv", {1, 16, 4, 4}, {0});                          // a
    if (reader_of_a_before) net.add("Conv", {1, 16, 4, 4}, {1});  // on rank 1, before the Concat
    net.add("Conv", {1, 16, 4, 4}, {0});                          // b
    const int b = net.size() - 1;
    net.add_concat({1, 32, 4, 4}, {1, b});
    const int c = b + 1;
    net.add("Conv", {1, 16, 4, 4}, {c});
    net.add_concat({1, 48, 4, 4}, {1, b, c + 1});  // as in DenseNet
    net.add("Conv", {1, 4, 4, 4}, {c + 2});
    net.add_output(c + 3);
    if (reader_of_a_before) net.add_output(2);
    std::vector<int> owner(net.layers.size(), 1);
    for (int l : {0, 1, b, c}) owner[l] = 0;
    const std::vector<algorithm::choice> algorithms(net.layers.size());
    auto plan = schedule::build({net.view(), owner, devices, algorithms, 2});
    EXPECT_TRUE(schedule::sound(plan.view(), net.view()));
    EXPECT_EQ(test::simulation(net.view(), plan.view(), algorithms, 3, 1).run(), "");
    for (const auto& s : plan.steps)  // the message lies where the next Concat needs it
      EXPECT_TRUE(s.what != action::compute || net.layers[s.layer].op != "Concat" || reader_of_a_before);
    return plan;
  };
  const auto once = plan_with(0);
  ASSERT_EQ(once.messages.size(), 1);
  EXPECT_EQ(once.messages[0].bytes, 2048);
  // A rank must not wait for what may need its own results, nor longer than before.
  const auto both = plan_with(1);
  ASSERT_EQ(both.messages.size(), 2);
  EXPECT_EQ(both.messages[0].bytes + both.messages[1].bytes, 1024 + 2048);
}

TEST(Schedule, RandomPlansHaveTensorsThatComeWithinConcats) {
  int plans = 0, tensors = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const drawn d(seed * 7919, 3 + static_cast<int>(seed % 40));
    const auto plan = d.plan();
    const int before = tensors;
    for (const auto& r : plan.ranks)
      schedule::each_carried(plan.view(), d.net.view(), r.rank, [&](int, int, std::int64_t) { ++tensors; });
    plans += tensors > before;
  }
  EXPECT_GT(plans, 50) << tensors;
}

// What the cost model counts is what a plan of two ranks sends.
TEST(Schedule, CrossingBytesAreThoseOfPlans) {
  const std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
  int carried = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const test::random_network drawn(seed, 5 + static_cast<int>(seed % 30));
    const auto net = drawn.view();
    const std::vector<algorithm::choice> algorithms(drawn.layers.size());
    std::vector<int> ids(drawn.layers.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<std::int64_t> bytes(ids.size() + 1), messages(ids.size() + 1);
    schedule::each_crossing(net, ids, [&](int t, int first, int end, int times) {
      for (int cut = first + 1; cut <= end; ++cut) {
        bytes[cut] += times * net.layers[t].output.bytes();
        messages[cut] += times;
      }
      carried += times < 0;
    });
    for (std::size_t cut = 1; cut < ids.size(); ++cut) {
      std::vector<int> owner(ids.size(), 1);
      std::fill_n(owner.begin(), cut, 0);
      const auto plan = schedule::build({net, owner, devices, algorithms, 1});
      std::int64_t sent = 0;
      for (const auto& m : plan.messages) sent += m.bytes;
      EXPECT_EQ(sent, bytes[cut]) << "seed " << seed << ", cut " << cut;
      EXPECT_EQ(plan.messages.size(), messages[cut]) << "seed " << seed << ", cut " << cut;
    }
  }
  EXPECT_GT(carried, 20);
}

// Each Concat joins the one before it with itself: 2^40 paths lead to the first tensor.
TEST(Schedule, ConcatsOfTheSameTensorTakeNoLonger) {
  const std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
  test::network net;
  net.add("Input", {1, 1, 1, 1}, {}).is_input = true;
  for (int i = 0; i < 40; ++i) net.add_concat({1, std::int64_t{2} << i, 1, 1}, {i, i});
  for (int i = 1; i <= 40; ++i) net.add("Conv", {1, 1, 1, 1}, {i});  // also reads what lies within the last one
  net.add_output(net.size() - 1);
  std::vector<int> owner(net.layers.size(), 1), ids(net.layers.size());
  std::fill_n(owner.begin(), 41, 0);
  const std::vector<algorithm::choice> algorithms(net.layers.size());
  const auto plan = schedule::build({net.view(), owner, devices, algorithms, 1});
  EXPECT_TRUE(schedule::sound(plan.view(), net.view()));
  ASSERT_EQ(plan.messages.size(), 1);
  std::iota(ids.begin(), ids.end(), 0);
  std::int64_t crossing = 0;
  schedule::each_crossing(net.view(), ids, [&](int t, int first, int end, int times) {
    if (first < 41 && end >= 41) crossing += times * net.layers[t].output.bytes();
  });
  EXPECT_EQ(crossing, plan.messages[0].bytes);
}

}  // namespace
