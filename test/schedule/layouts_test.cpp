// Which tensors are blocked in networks made by hand; each plan is sound and moves the right values.
#include "dice/algorithm/algorithm.hpp"
#include "dice/schedule/schedule.hpp"
#include "random_network.hpp"
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace dice;
using algorithm::form;

struct made : test::network {
  std::vector<algorithm::choice> algorithms;
  std::vector<int> owner;

  /// Sets how the layer just added is computed, and by which rank.
  int how(form works, int rank = 0, bool converts = true) {
    algorithms.resize(layers.size());
    owner.resize(layers.size(), rank);
    algorithms.back() = {.works = works, .converts = converts};
    return size() - 1;
  }
  int input(tensor::shape shape) { return add("Input", shape, {}).is_input = true, how(form::plain); }
  int conv(tensor::shape shape, int from, form works = form::blocked, int rank = 0, bool converts = true) {
    return add("Conv", shape, {from}), how(works, rank, converts);
  }
  int concat(tensor::shape shape, const std::vector<int>& from, form works) { return add_concat(shape, from), how(works); }
  int view(tensor::shape shape, int from, std::int64_t offset) {
    return add_view("View", shape, from, offset), how(form::plain, owner.back());
  }
  /// An operator as the OpenMP backend computes it.
  template <class Op> int operation(const Op& op, const std::vector<int>& from) {
    std::vector<tensor::shape> in;
    for (const int f : from) in.push_back(layers[at(f)].output);
    const auto result = graph::infer(op, graph::shapes(in));
    auto& l = add(op.onnx.data(), result, from);
    l.view = graph::view(op, graph::shapes(in), result);
    for (int k = 0; k < l.edges; ++k) edges[at(l.first_edge + k)].joins = graph::joins(op, k, graph::shapes(in), result);
    algorithms.push_back(algorithm::choose_openmp(op, graph::shapes(in), result));
    owner.push_back(0);
    return size() - 1;
  }
  void output(int from) {
    add_output(from);
    how(form::plain, owner.back());
  }

  schedule::built_plan plan() const {
    std::vector<platform::device> devices;
    for (int r = 0; r <= *std::max_element(owner.begin(), owner.end()); ++r) devices.push_back({r, {}, -1});
    auto plan = schedule::build({view_of(), owner, devices, algorithms, 2});
    EXPECT_TRUE(schedule::sound(plan.view(), view_of()));
    EXPECT_EQ(test::simulation(view_of(), plan.view(), algorithms, 5, 1).run(), "");
    for (auto& o : plan.operands) expect_refused(plan, o);
    return plan;
  }
  /// Expects that the proofs fail if `at`, one of the plan's places, has the other layout.
  void expect_refused(const schedule::built_plan& plan, schedule::place& at) const {
    at.layout = test::other(at.layout);
    EXPECT_FALSE(schedule::places_match(plan.view(), view_of()));
    at.layout = test::other(at.layout);
  }
  graph::network_view view_of() const { return network::view(); }
  /// A letter for each layer: b (blocked) or p (plain).
  std::string layouts() const {
    meta::array<int> uses(size());
    for (const auto& e : edges) ++uses[e.from];
    std::string out;
    for (const auto l : schedule::choose_layouts(view_of(), schedule::fuse(view_of(), owner, algorithms, uses), algorithms))
      out += l == tensor::layout::blocked ? 'b' : 'p';
    return out;
  }
};

/// Bytes of working memory and of copies, in order.
std::vector<std::int64_t> working(const schedule::built_plan& p) {
  std::vector<std::int64_t> out;
  for (const auto& b : p.buffers)
    if (b.layer < 0 || b.is_copy) out.push_back(b.bytes);
  return out;
}

using bytes = std::vector<std::int64_t>;

// From plain pictures to a plain result: only the last layer converts.
TEST(Layouts, AChainStaysBlocked) {
  made net;
  net.conv({1, 24, 4, 4}, net.input({1, 3, 8, 8}), form::first);
  net.conv({1, 24, 4, 4}, 1, form::either);  // as an activation
  net.conv({1, 24, 2, 2}, 2);
  net.output(net.conv({1, 40, 2, 2}, 3));
  EXPECT_EQ(net.layouts(), "pbbbpp");
  EXPECT_EQ(working(net.plan()), bytes{48 * 4 * 4});
}

TEST(Layouts, ViewsOfOtherShapesArePlain) {
  made net;
  net.conv({1, 32, 2, 2}, net.input({1, 3, 2, 2}));
  net.output(net.conv({1, 10}, net.view({1, 128}, 1, 0), form::plain));
  EXPECT_EQ(net.layouts(), "ppppp");
}

TEST(Layouts, ViewsFromABlockOnStayViews) {
  for (const auto& [from, part, blocked] : {std::tuple{0, 32, true}, {16, 40, true}, {32, 5, true}, {8, 32, false}}) {
    made net;
    net.conv({1, 56, 2, 2}, net.input({1, 3, 2, 2}));
    net.output(net.conv({1, 16, 2, 2}, net.view({1, part, 2, 2}, 1, from * 4)));
    EXPECT_EQ(net.layouts(), blocked ? "pbbpp" : "ppppp") << from;
    net.plan();
  }
}

/// Tensors of `first` and of 40 - first channels, joined in place as layer 3 and read by a convolution.
struct two_joined : made {
  two_joined(int first, form works) {
    input({1, 3, 2, 2});
    conv({1, first, 2, 2}, 0);
    conv({1, 40 - first, 2, 2}, 0);
    output(conv({1, 16, 2, 2}, concat({1, 40, 2, 2}, {1, 2}, works)));
  }
  schedule::built_plan plan() const {
    auto plan = made::plan();
    for (auto& s : plan.steps) {
      EXPECT_FALSE(s.what == schedule::action::compute && s.layer == 3);
      if (s.layer == 1 || s.layer == 2) expect_refused(plan, s.output);
    }
    return plan;
  }
};

TEST(Layouts, ConcatsOfWholeBlocksAreJoinedInPlace) {
  const two_joined net(16, form::either);
  EXPECT_EQ(net.layouts(), "pbbbpp");
  const auto plan = net.plan();
  const auto holds = [](const auto& b) { return b.layer == 3 && b.bytes == 48 * 4 * 4; };
  EXPECT_EQ(std::count_if(plan.buffers.begin(), plan.buffers.end(), holds), 1);
}

// The Concat needs plain tensors, so its operands are computed plain, in place, and converted once, after it.
TEST(Layouts, OtherConcatsArePlain) {
  const two_joined net(24, form::plain);
  EXPECT_EQ(net.layouts(), "pppppp");
  net.plan();
}

TEST(Layouts, LessThanABlockIsPlain) {
  made net;
  net.output(net.conv({1, 16, 2, 2}, net.conv({1, 15, 2, 2}, net.input({1, 3, 2, 2}))));
  EXPECT_EQ(net.layouts(), "pppp");
}

// Parts of a convolution's result, cut out and joined with others, as a split layer reads them.
TEST(Layouts, PartsStayBlocked) {
  for (const int axis : {2, 3}) {
    made net;
    const ops::conv three{.channels = 40, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
    const int once = net.operation(three, {net.input({1, 3, 8, 8})}), twice = net.operation(three, {once});
    ops::slice half{.extents = {1, 40, 8, 8}};
    half.extents[axis] = 4;
    half.starts[axis] = 3;
    const int part = net.operation(half, {once}), other = net.operation(half, {twice});
    ASSERT_LT(net.layers.back().view, 0);
    const int joined = net.operation(ops::concat{.axis = axis}, {part, other, part});
    net.output(net.operation(three, {joined}));
    EXPECT_EQ(net.layouts(), "pbbbbbpp");
    EXPECT_EQ(net.plan().messages.size(), 0);
  }
}

// Blocks of channels join in place, and a part from a block on remains a view.
TEST(Layouts, BlocksOfChannelsMoveNoBytes) {
  made net;
  const int image = net.input({1, 20, 6, 6});
  const ops::conv first{.channels = 32}, second{.channels = 24};
  const int joined = net.operation(ops::concat{.axis = 1}, {net.operation(first, {image}), net.operation(second, {image})});
  const int part = net.operation(ops::slice{.starts = {0, 16}, .extents = {1, 40, 6, 6}}, {joined});
  net.output(net.operation(first, {part}));
  EXPECT_EQ(net.layouts(), "pbbbbpp");
  const auto plan = net.plan();
  const auto moves = [&](const auto& s) {
    return s.what == schedule::action::compute && (s.layer == joined || s.layer == part);
  };
  EXPECT_EQ(std::count_if(plan.steps.begin(), plan.steps.end(), moves), 0);
}

// Within a blocked Concat, whole blocks from a block on lie as in a plain one.
TEST(Layouts, WholeBlocksKeepTheirPlace) {
  test::network net;
  for (const int channels : {16, 16, 8}) net.add("Conv", {1, channels, 2, 3}, {});
  net.add_concat({1, 40, 2, 3}, {0, 1, 2});
  const auto keeps = [&](int tensor, std::int64_t offset, tensor::layout as) {
    return schedule::keeps_place(net.view(), tensor, 3, offset, as);
  };
  using enum tensor::layout;
  EXPECT_TRUE(keeps(1, 16 * 6, blocked) && keeps(1, 16 * 6, plain));
  EXPECT_TRUE(!keeps(1, 8 * 6, blocked) && keeps(1, 8 * 6, plain));
  EXPECT_TRUE(!keeps(2, 32 * 6, blocked) && keeps(2, 32 * 6, plain));
}

// Rows of rows: what is put together of bands is no band itself, but the others are.
TEST(Layouts, RowsOfRowsAreNoBands) {
  made net;
  const ops::conv three{.channels = 40, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  const int image = net.input({1, 3, 8, 8});
  const auto conv = [&] { return net.operation(three, {image}); };
  const auto join = [&](const std::vector<int>& of) {
    const int out = net.operation(ops::concat{.axis = 2}, of);
    net.layers.back().is_concat = true;
    return out;
  };
  const int a = conv(), b = conv(), inner = join({a, b}), c = conv();
  net.output(net.operation(three, {join({inner, c})}));
  const auto plan = net.plan();
  std::vector<int> bands;
  for (const auto& s : plan.steps)
    if (s.what == schedule::action::compute && s.output.pitch != 0) bands.push_back(s.layer);
  EXPECT_EQ(bands, (std::vector{a, b, c}));
}

// A single reader that cannot convert decides for all.
TEST(Layouts, MessagesAreBlockedWhereBothRanksWorkSo) {
  for (const bool converts : {true, false}) {
    made net;
    net.conv({1, 24, 2, 2}, net.input({1, 3, 2, 2}));
    net.conv({1, 24, 2, 2}, 1);
    net.output(net.conv({1, 24, 2, 2}, 1, converts ? form::blocked : form::plain, 1, converts));
    EXPECT_EQ(net.layouts(), converts ? "pbppp" : "ppppp");
    const auto plan = net.plan();
    ASSERT_EQ(plan.messages.size(), 1);
    EXPECT_EQ(plan.messages[0].bytes, converts ? 32 * 4 * 4 : 24 * 4 * 4);
    EXPECT_EQ(plan.messages[0].at_sender.layout, plan.messages[0].at_receiver.layout);
  }
}

}  // namespace
