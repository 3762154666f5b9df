// Partial sums over input channels.
#include "graph/parts.hpp"

#include <array>
#include <cstdint>

namespace {

using namespace parts;

// By hand.
constexpr shape image{1, 48, 8, 6};
constexpr ops::conv conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
static_assert(graph::depth_step(conv, std::array{image}) == 16);
static_assert(graph::partial_region(conv, 16, 48, std::array{image}) == region{{0, 16, 0, 0}, {1, 48, 8, 6}});
static_assert(graph::partial_parameter_region(conv, 0, 16, 48, std::array{image}, {32, 48, 3, 3}) ==
              region{{0, 16, 0, 0}, {32, 48, 3, 3}});
static_assert(graph::partial_parameter_region(conv, 1, 16, 48, std::array{image}, {32}) == region{{0}, {32, 1, 1, 1}});
static_assert(graph::partial(conv, 0, 16, true, std::array{image}).bias);
static_assert(!graph::partial(conv, 16, 48, false, std::array{image}).bias);
static_assert(graph::depth_step(ops::conv{.channels = 32, .group = 2}, std::array{image}) == 0);
static_assert(graph::depth_step(ops::gemm{.columns = 5, .depth = 48}, std::array{shape{1, 48}}) == 16);
static_assert(graph::partial(ops::gemm{.columns = 5, .depth = 48}, 16, 48, false, std::array{shape{1, 48}}).depth == 32);
static_assert(graph::partial_region(ops::mat_mul{.columns = 5, .depth = 6}, 0, 4, std::array{image}) ==
              region{{}, {1, 48, 8, 4}});
static_assert(graph::depth_step(ops::mat_mul{.columns = 5, .depth = 6}, std::array{shape{1, 2, 3, 4, 6}}) == 0);
static_assert(graph::depth_step(ops::relu{}, std::array{image}) == 0);

/// The sum of the partial results of three intervals is the layer's result.
template <class Op> void check_sum(const layer<Op>& l, std::int64_t depth) {
  const auto sum_by = [&]<class Backend>(Backend) {
    std::vector<float> sum(static_cast<std::size_t>(l.whole.result().elements()));
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{0, 16}, {16, 48}, {48, depth}}) {
      const auto part = partial_of(l, from, to, from == 0).whole;
      EXPECT_EQ(part.result(), l.whole.result()) << l.whole.op.onnx;
      const auto found = compute<Backend>(part);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += found[i];
    }
    EXPECT_LE(error(sum, compute<Backend>(l.whole)), tolerance) << l.whole.op.onnx;
  };
  sum_by(kernels::reference::backend{});
#ifdef DICE_WITH_OPENMP
  sum_by(kernels::openmp::backend{});
#endif
}

TEST(Partial, SumsAreTheWhole) {
  check_sum(of(conv, {{1, 70, 8, 9}}, {{32, 70, 3, 3}, {32}}), 70);
  check_sum(of(ops::conv{.channels = 20, .kernel = {1, 3}, .strides = {1, 2}}, {{2, 64, 20}}, {{20, 64, 1, 3}}), 64);
  check_sum(of(ops::gemm{.columns = 9, .depth = 70, .bias = true}, {{3, 70}}, {{9, 70}, {9}}), 70);
  check_sum(of(ops::mat_mul{.columns = 9, .depth = 70}, {{2, 5, 70}}, {{9, 70}}), 70);
  // Of a part of the output.
  const auto part = part_of(of(conv, {{1, 70, 8, 9}}, {{32, 70, 3, 3}, {32}}), {{0, 16, 2, 0}, {1, 32, 5, 4}});
  check_sum(part, 70);
}

TEST(Partial, OtherOperatorsHaveNone) {
  EXPECT_THROW(graph::partial(ops::relu{}, 0, 16, true, std::array{image}), graph::model_error);
  EXPECT_THROW(graph::partial(ops::conv{.channels = 32, .group = 2}, 0, 16, true, std::array{image}), graph::model_error);
}

}  // namespace
