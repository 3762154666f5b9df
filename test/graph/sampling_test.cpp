// Which elements a resized axis reads: exactly if the model gives sizes, else as ONNX Runtime computes it in float32.
#include "dice/graph/ops/resize.hpp"

#include <gtest/gtest.h>
#include <cstdlib>
#include <vector>

namespace {

using namespace dice;
using from = ops::coordinates;
using near = ops::rounding;

std::vector<int> read(const ops::sampled_axis& a) {
  std::vector<int> out;
  for (int k = 0; k < a.out; ++k) out.push_back(ops::samples_of(a, k).at(0, a.in));
  return out;
}
ops::sampled_axis sized(from where, near how, int in, int out) {
  return {.from = where,
          .nearest = how,
          .scale = static_cast<float>(out) / static_cast<float>(in),
          .over = out,
          .under = in,
          .in = in,
          .out = out};
}
/// Axis by a scale, as Resize has it.
ops::sampled_axis scaled(from where, near how, int in, float scale) {
  return {.from = where, .nearest = how, .scale = scale, .in = in, .out = static_cast<int>(static_cast<float>(in) * scale)};
}

/// The element of in that ONNX's definitions choose for the position n / d: found among all elements, without a division.
int chosen(near how, long n, long d, int in) {
  const auto away = [&](int e) { return std::labs(e * d - n); };
  int best = 0;
  for (int e = 0; e < in; ++e) {
    const bool candidate = how == near::floor                ? e * d <= n
                           : how == near::ceil               ? e * d - d < n
                           : how == near::round_prefer_floor ? away(e) < away(best)
                                                             : away(e) <= away(best);
    if (candidate) best = e;
  }
  return best;
}

TEST(Sampling, PositionsOfSizesAreExact) {
  for (int in = 1; in <= 28; ++in)
    for (int out = 1; out <= 28; ++out)
      for (const auto how : {near::round_prefer_floor, near::round_prefer_ceil, near::floor, near::ceil}) {
        if (in == out) continue;
        // The position of element k is numerator(k) / denominator.
        const auto expect = [&](from where, auto numerator, long denominator) {
          std::vector<int> elements;
          for (long k = 0; k < out; ++k) elements.push_back(chosen(how, numerator(k), denominator, in));
          EXPECT_EQ(read(sized(where, how, in, out)), elements)
              << in << " to " << out << " in mode " << static_cast<int>(where) << ", " << static_cast<int>(how);
        };
        const auto center = [&](long k) { return (2 * k + 1) * in - out; };
        expect(
            from::asymmetric, [&](long k) { return k * in; }, out);
        expect(from::half_pixel, center, 2 * out);
        expect(from::half_pixel_symmetric, center, 2 * out);
        expect(
            from::pytorch_half_pixel, [&](long k) { return out == 1 ? 0 : center(k); }, 2 * out);
        expect(
            from::tf_half_pixel_for_nn, [&](long k) { return (2 * k + 1) * in; }, 2 * out);
        expect(
            from::align_corners, [&](long k) { return k * (in - 1); }, out == 1 ? 1 : out - 1);
      }
}

/// Position 6.5 of 14 to 19; 3.5 of 7 to 2.
TEST(Sampling, TiesOfSizes) {
  EXPECT_EQ(read(sized(from::half_pixel, near::round_prefer_floor, 14, 19))[9], 6);
  EXPECT_EQ(read(sized(from::asymmetric, near::round_prefer_ceil, 7, 2)), (std::vector{0, 4}));
  EXPECT_EQ(read(sized(from::asymmetric, near::floor, 14, 2)), (std::vector{0, 7}));
  EXPECT_EQ(read(sized(from::asymmetric, near::floor, 1 << 23, 2)), (std::vector{0, 1 << 22}));
}

/// What ONNX Runtime 1.32 chooses.
TEST(Sampling, PositionsOfScalesAreThoseOfOnnxRuntime) {
  const auto at = [](from where, near how, int in, float scale, std::size_t k) {
    return read(scaled(where, how, in, scale))[k];
  };
  EXPECT_EQ(at(from::half_pixel, near::round_prefer_floor, 16, 1.3f, 19), 14);     // 14.500001
  EXPECT_EQ(at(from::half_pixel, near::round_prefer_ceil, 17, 2.9f, 43), 15);      // 14.499999
  EXPECT_EQ(at(from::asymmetric, near::round_prefer_ceil, 7, 8.0f / 7, 4), 4);     // 3.4999998
  EXPECT_EQ(at(from::asymmetric, near::round_prefer_ceil, 26, 8.0f / 7, 28), 24);  // 24.499998: not near enough
  EXPECT_EQ(at(from::tf_half_pixel_for_nn, near::round_prefer_floor, 9, 2.6f, 19), 7);
  EXPECT_EQ(at(from::half_pixel_symmetric, near::round_prefer_floor, 6, 1.6f, 4), 2);
  EXPECT_EQ(at(from::half_pixel_symmetric, near::floor, 3, 2.4f, 3), 0);
  EXPECT_EQ(at(from::half_pixel_symmetric, near::ceil, 5, 2.35f, 5), 2);
  EXPECT_EQ(at(from::asymmetric, near::floor, 8, 8.0f / 7, 8), 6);
  EXPECT_EQ(at(from::half_pixel, near::floor, 9, 0.6f, 4), 6);
  EXPECT_EQ(at(from::half_pixel, near::ceil, 9, 2.6f, 19), 8);
}

/// Of opset 10, also ONNX Runtime's.
TEST(Sampling, ByScale) {
  EXPECT_EQ(read(scaled(from::asymmetric, near::by_scale, 4, 0.6f)), (std::vector{0, 2}));
  EXPECT_EQ(read(scaled(from::asymmetric, near::by_scale, 8, 0.75f)), (std::vector{0, 2, 3, 4, 6, 7}));
  EXPECT_EQ(read(scaled(from::asymmetric, near::by_scale, 3, 1.7f)), (std::vector{0, 0, 1, 1, 2}));
}

/// An axis that keeps the aspect ratio has the scale of another one: 3 to 4 makes 7 of 5, and 0.75 · 3 is 2.25.
TEST(Sampling, ACommonScaleIsAFraction) {
  const ops::resize op{.mode = ops::resizing::nearest,
                       .to = {4, 7},
                       .scales = {4.0f / 3, 4.0f / 3},
                       .by_sizes = true,
                       .ratio_over = 4,
                       .ratio_under = 3,
                       .from = from::asymmetric,
                       .nearest = near::ceil};
  EXPECT_EQ(read(op.axis(1, {3, 5}, {4, 7})),
            (std::vector{0, 1, 2, 3, 3, 4, 4}));  // ceil of 0, 0.75, 1.5, 2.25, 3, 3.75, 4.5
}

}  // namespace
