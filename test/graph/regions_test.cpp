// Region rules against the elements that an operator reads, by the reference kernels: elements outside of the rule's region
// may change, and the region of the result stays the same.
#include "kernels/harness.hpp"

#include <array>
#include <cstdint>
#include <random>

namespace {

using namespace harness;
using tensor::region;

bool inside(const region& r, const shape& s, std::int64_t element) {
  for (int a = s.rank - 1; a >= 0; --a) {
    const auto i = element % s[a];
    element /= s[a];
    if (a < region::axes && (i < r.begin[a] || i >= r.end[a])) return false;
  }
  return true;
}

template <class Op> void needs_all_it_touches(const problem<Op>& p) {
  const auto expected = compute<kernels::reference::backend>(p);
  const auto result = p.result();
  std::mt19937 draw(7);
  std::int64_t spared = 0;
  for (int n = 0; n < 50; ++n) {
    region part = tensor::whole(result);
    for (int a = 0; a < std::min(result.rank, region::axes); ++a) {
      const auto extent = static_cast<unsigned>(result[a]);
      part.begin[a] = draw() % extent;
      part.end[a] = part.begin[a] + 1 + draw() % (extent - static_cast<unsigned>(part.begin[a]));
    }
    auto other = p;
    for (std::size_t k = 0; k < p.in.size(); ++k) {
      const auto needed = graph::input_region(p.op, static_cast<int>(k), part, graph::shapes(p.in), result);
      EXPECT_TRUE(tensor::empty(needed) || tensor::contains(tensor::whole(p.in[k]), needed)) << p.op.onnx;
      for (std::size_t i = 0; i < other.inputs[k].size(); ++i)
        if (!inside(needed, p.in[k], static_cast<std::int64_t>(i))) {
          other.inputs[k][i] += static_cast<float>(1 + draw() % 100);
          ++spared;
        }
    }
    const auto found = compute<kernels::reference::backend>(other);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (inside(part, result, static_cast<std::int64_t>(i))) {
        ASSERT_EQ(found[i], expected[i]) << p.op.onnx << ", element " << i;
      }
  }
  EXPECT_GT(spared, 0) << p.op.onnx << " needs everything: this shows nothing";
}

// Zhao et al. 2018 (DeepThings), Figure 5: two of the four tiles of a 6×6 result, under a window of 3×3; Eq. (2) for a
// pooling that leaves out the last row and column of 7.
TEST(Regions, AreTheTilesOfDeepThings) {
  const auto rows_and_columns = [](const region& r) { return std::array{r.begin[2], r.end[2], r.begin[3], r.end[3]}; };
  const auto under = [&](const auto& op, const shape& in, std::array<std::int64_t, 4> tile) {
    const region out{{0, 0, tile[0], tile[2]}, {1, in[1], tile[1], tile[3]}};
    return rows_and_columns(graph::input_region(op, 0, out, graph::shapes(&in, 1), graph::infer(op, graph::shapes(&in, 1))));
  };
  const ops::conv window{.channels = 3, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  EXPECT_EQ(under(window, {1, 3, 6, 6}, {0, 3, 3, 6}), (std::array<std::int64_t, 4>{0, 4, 2, 6}));
  EXPECT_EQ(under(window, {1, 3, 6, 6}, {3, 6, 0, 3}), (std::array<std::int64_t, 4>{2, 6, 0, 4}));
  const ops::max_pool pooling{.kernel = {2, 2}, .strides = {2, 2}};
  EXPECT_EQ(under(pooling, {1, 3, 7, 7}, {1, 3, 0, 2}), (std::array<std::int64_t, 4>{2, 6, 0, 4}));
}

TEST(Regions, HoldWhatOperatorsTouch) {
  for (const int stride : {1, 2, 3})
    for (const int dilation : {1, 2}) {
      needs_all_it_touches(make(ops::conv{.channels = 4,
                                          .kernel = {3, 2},
                                          .strides = {stride, 2},
                                          .dilations = {1, dilation},
                                          .pads = {1, 2, 0, 1},
                                          .group = 2},
                                {{1, 4, 9, 10}}, {{4, 2, 3, 2}}));
      needs_all_it_touches(make(
          ops::max_pool{
              .kernel = {2, 3}, .strides = {stride, 2}, .dilations = {dilation, 1}, .pads = {1, 1, 0, 1}, .ceil_mode = true},
          {{1, 3, 9, 10}}));
      needs_all_it_touches(
          make(ops::average_pool{.kernel = {2, 3}, .strides = {2, stride}, .dilations = {1, dilation}, .pads = {0, 1, 1, 1}},
               {{1, 3, 9, 10}}));
    }
  needs_all_it_touches(make(ops::conv{.channels = 3, .kernel = {1, 3}, .pads = {0, 1, 0, 1}}, {{1, 2, 12}}, {{3, 2, 1, 3}}));
  needs_all_it_touches(make(ops::global_average_pool{}, {{2, 3, 4, 4}}));
  needs_all_it_touches(make(ops::gemm{.columns = 5, .depth = 6}, {{4, 6}}, {{5, 6}}));
  needs_all_it_touches(make(ops::mat_mul{.columns = 5, .depth = 6}, {{2, 3, 6}}, {{5, 6}}));
  needs_all_it_touches(make(ops::softmax{.first = 1, .last = 2}, {{3, 4, 5}}));
  needs_all_it_touches(make(ops::softmax{.first = 2, .last = 4}, {{2, 3, 4, 5}}));
  needs_all_it_touches(make(ops::lrn{.size = 3}, {{1, 9, 2, 2}}));
  needs_all_it_touches(make(ops::lrn{.size = 4}, {{1, 9, 2, 2}}));
  needs_all_it_touches(make(ops::pad{.before = {0, 0, 2, -1}, .after = {0, 1, -2, 3}}, {{1, 2, 6, 5}}));
  needs_all_it_touches(
      make(ops::slice{.starts = {0, 7, 1, 0}, .steps = {1, -2, 1, 3}, .extents = {1, 4, 3, 2}}, {{1, 8, 4, 6}}));
  auto in_any_order = make(ops::gather{.axis = 2, .count = 7}, {{1, 3, 4, 5}});
  in_any_order.parameters = {{3, 0, 2, 2, 1, 0, 3}};
  needs_all_it_touches(in_any_order);
  needs_all_it_touches(
      make(ops::pad{.before = {0, 0, 2, 0}, .after = {0, 0, 7, 3}, .mode = ops::padding::wrap}, {{1, 2, 6, 5}}));
  needs_all_it_touches(make(
      ops::einsum{
          .of = {{{0, 1, -1}, {0, -1, 2}}}, .rank = 3, .depth = {2, 1}, .which = ops::constant::first, .fixed = {2, 4, 3}},
      {{2, 3, 5}}, {{2, 4, 3}}));
  needs_all_it_touches(make(ops::transpose{.perm = {0, 2, 3, 1}}, {{1, 3, 4, 5}}));
  needs_all_it_touches(make(ops::transpose{.perm = {4, 1, 0, 3, 2}}, {{2, 3, 2, 3, 4}}));
  needs_all_it_touches(make(ops::concat{.axis = 1}, {{1, 3, 4, 4}, {1, 2, 4, 4}, {1, 4, 4, 4}}));
  needs_all_it_touches(make(ops::concat{.axis = 3}, {{1, 3, 4, 4}, {1, 3, 4, 1}}));
  needs_all_it_touches(make(ops::reduce{.over = {false, false, true, true}, .keep = true}, {{2, 3, 4, 5}}));
  needs_all_it_touches(make(ops::reduce{.over = {false, true, false, true}, .keep = false}, {{2, 3, 4, 5}}));
  needs_all_it_touches(make(ops::add{}, {{2, 3, 4, 5}, {3, 1, 5}}));
  needs_all_it_touches(make(ops::sum{}, {{1, 3, 4, 1}, {2, 1, 1, 5}, {4, 1}}));
  needs_all_it_touches(make(ops::relu{}, {{2, 3, 4, 5}}));
  needs_all_it_touches(make(ops::resize{.factors = {1, 1, 2, 3}}, {{2, 3, 4, 5}}));
  needs_all_it_touches(make(
      ops::resize{.mode = ops::resizing::linear, .to = {2, 3, 7, 3}, .scales = {1, 1, 7.0f / 4, 3.0f / 5}}, {{2, 3, 4, 5}}));
  for (const auto mode : {ops::resizing::linear, ops::resizing::cubic})
    needs_all_it_touches(
        make(ops::antialiased_resize{.axis = 2, .to = 6, .mode = mode, .scale = 6.0f / 20}, {{1, 2, 20, 3}}));
  needs_all_it_touches(make(ops::flatten{.axis = 1}, {{3, 2, 2}}));
  needs_all_it_touches(make(ops::reshape{.to = {3, 4, 5}}, {{3, 2, 2, 5}}));
}

}  // namespace
