// Convolutions and matrix products in 16-bit numbers against the reference, which does not round.
#include "kernels/harness.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace harness;

using platform::numbers;

template <class Numbers> struct half_precision : ::testing::Test {
  /// The error allowed for rounding to 11 or 8 bits, relative to the largest result.
  static constexpr double rounding = Numbers::value == numbers::bf16 ? 3e-2 : 4e-3;

  template <class Op> static std::vector<float> compute_half(const problem<Op>& p, const ending& e = {}) {
    constexpr algorithm::method by{algorithm::backend::cudnn, Numbers::value};
    return compute<kernels::cudnn::backend>(p, e, algorithm::choose<by>(p.op, graph::shapes(p.in), p.result()));
  }

  template <class Op> static void near(problem<Op> p, const std::string& what, const ending& activation = {}) {
    const auto expected = compute<kernels::reference::backend>(p, activation);
    for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
      p.layout = layout;
      const auto e = error(compute_half(p, activation), expected);
      EXPECT_LE(e, rounding) << what;
      // And it was rounded: float32 would be far closer.
      EXPECT_GT(e, 1e-6) << what;
    }
  }
};
using both =
    ::testing::Types<std::integral_constant<numbers, numbers::fp16>, std::integral_constant<numbers, numbers::bf16>>;
TYPED_TEST_SUITE(half_precision, both);

TYPED_TEST(half_precision, convolutions) {
  const auto conv = [](const ops::conv& op, const shape& in) {
    return make(op, {in}, {{op.channels, in[1] / op.group, op.kernel[0], op.kernel[1]}, {op.channels}});
  };
  const ops::conv first{.channels = 21, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}, .bias = true};
  TestFixture::near(conv(first, {1, 3, 31, 33}), "first layer", ops::relu{});
  const ops::conv plain{.channels = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  TestFixture::near(conv(plain, {2, 24, 9, 14}), "without bias");
  TestFixture::near(with_residual(conv(plain, {2, 24, 9, 14})), "residual", ops::leaky_relu{.alpha = 0.1f});
  const ops::conv pointwise{.channels = 33, .bias = true};
  TestFixture::near(with_residual(conv(pointwise, {1, 40, 7, 7})), "1x1", ops::clip{.low = -0.5f, .high = 0.7f});
  const ops::conv uneven{.channels = 8, .kernel = {3, 3}, .strides = {2, 2}, .pads = {0, 0, 1, 1}, .bias = true};
  TestFixture::near(conv(uneven, {1, 17, 12, 12}), "uneven pads");
}

TYPED_TEST(half_precision, products) {
  for (const std::int64_t depth : {64, 37})
    for (const std::int64_t rows : {1, 5}) {
      const ops::gemm op{.columns = 19, .depth = depth, .bias = true};
      TestFixture::near(make(op, {{rows, depth}}, {{19, depth}, {19}}), "gemm of depth " + std::to_string(depth),
                        ops::relu{});
    }
  const ops::mat_mul op{.columns = 6, .depth = 48};
  TestFixture::near(make(op, {{2, 3, 48}}, {{6, 48}}), "mat_mul");
}

// Operators without a 16-bit form compute in float32.
TYPED_TEST(half_precision, others) {
  const ops::conv grouped{.channels = 12, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .group = 3, .bias = true};
  const auto p = make(grouped, {{1, 6, 8, 8}}, {{12, 2, 3, 3}, {12}});
  EXPECT_LE(error(TestFixture::compute_half(p), compute<kernels::reference::backend>(p)), 1e-4);
  const auto q = make(ops::max_pool{.kernel = {3, 3}, .strides = {2, 2}}, {{1, 6, 9, 9}});
  EXPECT_EQ(TestFixture::compute_half(q), compute<kernels::reference::backend>(q));
}

}  // namespace
