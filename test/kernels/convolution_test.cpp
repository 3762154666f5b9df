// Convolution: reference against PyTorch, OpenMP against PyTorch and the reference.
#include "kernels/expected.hpp"

#include <cstdint>
#include <sstream>

namespace {

using namespace harness;

template <class Backend> struct convolution : ::testing::Test {};
TYPED_TEST_SUITE(convolution, backends);

TYPED_TEST(convolution, equals_pytorch) { check<TypeParam, ops::conv>("conv", 18); }

#ifdef DICE_COMPARES

constexpr bool can_halve = !std::is_same_v<compared, kernels::cudnn::backend>;

problem<ops::conv> problem_of(const ops::conv& op, const shape& in) {
  shape weights{op.channels, in[1] / op.group, op.kernel[0], op.kernel[1]};
  return make(op, {in}, {weights, {op.channels}});
}

std::string text(const ops::conv& op, const shape& in) {
  std::ostringstream s;
  s << "conv of (";
  for (int a = 0; a < in.rank; ++a) s << in[a] << ' ';
  s << ") to " << op.channels << " kernel " << op.kernel[0] << 'x' << op.kernel[1] << " stride " << op.strides[0] << ','
    << op.strides[1] << " dilation " << op.dilations[0] << ',' << op.dilations[1] << " pads";
  for (int p : op.pads) s << ' ' << p;
  s << " group " << op.group;
  return s.str();
}

void compare_conv(const ops::conv& op, const shape& in, const ending& activation = {}, bool residual = false) {
  auto p = problem_of(op, in);
  compare(residual ? with_residual(p) : p, text(op, in), activation);
}

// Every window on maps of every size, with varying numbers of channels.
TEST(convolution_compared, equals_the_reference) {
  const std::array<int, 2> kernels[] = {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {1, 7}, {7, 1}};
  const std::array<int, 2> sizes[] = {{1, 1}, {7, 7}, {13, 17}, {14, 14}, {4, 33}};
  const std::int64_t channels[] = {1, 3, 5, 17, 64};
  int turn = 0;
  for (const auto& kernel : kernels)
    for (const auto& size : sizes)
      for (int stride : {1, 2, 3})
        for (int dilation : {1, 2}) {
          const int py = (kernel[0] - 1) * dilation / 2 + (size[0] == 1),
                    px = (kernel[1] - 1) * dilation / 2 + (size[1] == 1);
          ops::conv op{.channels = channels[(turn / 2) % 5],
                       .kernel = kernel,
                       .strides = {stride, stride},
                       .dilations = {dilation, dilation},
                       .pads = {py, px, py, px},
                       .bias = turn % 2 == 0};
          if (turn % 3 == 1) {
            op.pads[0] += 1;
            op.pads[3] += 2;
          }
          if (dilation == 2) op.dilations[1] = 1 + turn % 2;
          const shape in{1 + turn % 7 / 6, channels[turn % 5], size[0], size[1]};
          ++turn;
          if (size[0] + op.pads[0] + op.pads[2] < (kernel[0] - 1) * op.dilations[0] + 1 ||
              size[1] + op.pads[1] + op.pads[3] < (kernel[1] - 1) * op.dilations[1] + 1)
            continue;
          compare_conv(op, in);
        }
}

TEST(convolution_compared, every_epilogue) {
  const ops::conv conv{.channels = 13, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  const ops::conv pointwise{.channels = 21, .bias = true};
  const ops::conv depthwise{.channels = 12, .kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = 12};
  const auto all = [](const ops::conv& op, const shape& in) {
    for (const bool residual : {false, true}) {
      compare_conv(op, in, {}, residual);
      compare_conv(op, in, ops::relu{}, residual);
      compare_conv(op, in, ops::leaky_relu{.alpha = 0.2f}, residual);
      compare_conv(op, in, ops::clip{.low = -0.1f, .high = 0.3f}, residual);
      compare_conv(op, in, ops::clip{.low = 0.3f, .high = -0.1f}, residual);  // ONNX: all are the upper limit
      compare_conv(op, in, ops::sigmoid{}, residual);
      compare_conv(op, in, ops::tanh{}, residual);
      compare_conv(op, in, ops::hard_sigmoid{}, residual);
      compare_conv(op, in, ops::hard_swish{}, residual);
    }
  };
  all(conv, {2, 6, 11, 9});
  all(pointwise, {2, 6, 11, 9});
  all(depthwise, {2, 12, 11, 9});
}

// Convolutions that end with the maximum of each 2 × 2 results.
TEST(convolution_compared, pools_2x2) {
  if (!can_halve) GTEST_SKIP() << "this backend takes no pooling into a convolution";
  const auto halved = [](const ops::conv& op, const shape& in, const ending& activation) {
    auto p = problem_of(op, in);
    ASSERT_TRUE(algorithm::choose<compared::value>(op, graph::shapes(p.in), p.result()).pools_2x2) << text(op, in);
    p.pools_2x2 = true;
    compare(p, text(op, in) + ", halved", activation);
  };
  for (const int kernel : {1, 3, 5, 7})
    for (const int stride : {1, 2})
      for (const std::int64_t channels : {3, 21})
        for (const auto& size : {std::array{2, 2}, {4, 3}, {5, 13}, {14, 28}, {7, 61}}) {
          if (kernel == 1 && stride == 1) continue;  // without rows
          const int pad = kernel / 2 + (stride == 2);
          const ops::conv op{.channels = 37,
                             .kernel = {kernel, kernel},
                             .strides = {stride, stride},
                             .pads = {pad, pad, pad, pad},
                             .bias = true};
          halved(op, {1 + kernel % 2 * stride / 2, channels, size[0], size[1]}, ops::relu{});
        }
  const ops::conv op{.channels = 20, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  for (const std::int64_t channels : {5, 16}) {
    const shape in{2, channels, 11, 18};
    halved(op, in, {});
    halved(op, in, ops::leaky_relu{.alpha = 0.2f});
    halved(op, in, ops::clip{.low = -0.1f, .high = 0.3f});
    halved(op, in, ops::sigmoid{});
    halved(op, in, ops::tanh{});
  }
  halved({.channels = 24, .kernel = {3, 3}, .pads = {0, 1, 2, 1}, .group = 3}, {1, 48, 9, 30}, ops::relu{});
  halved({.channels = 33, .kernel = {3, 3}, .strides = {2, 2}}, {1, 300, 21, 9}, ops::relu{});  // weights beyond the cache
  // Bands, the last of odd height.
  const ops::conv wide{.channels = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  const shape large{1, 3, 333, 259};
  const algorithm::convolution form(wide, large, graph::infer(wide, graph::shapes(&large, 1)));
  ASSERT_GT(form.bands(), 1);
  ASSERT_EQ(form.band % 2, 0);
  halved(wide, large, ops::relu{});
}

TEST(convolution_compared, groups) {
  for (const std::int64_t groups : {2, 3, 8})
    for (const std::int64_t multiplier : {1, 2, 5, 9})
      for (const std::int64_t channels : {1, 4})
        for (const int stride : {1, 2})
          compare_conv({.channels = groups * multiplier,
                        .kernel = {3, 3},
                        .strides = {stride, stride},
                        .pads = {1, 1, 1, 1},
                        .group = groups,
                        .bias = true},
                       {1, groups * channels, 13, 17});
  for (const int size : {1, 3, 7, 14, 31})
    for (const int kernel : {1, 3, 5, 7})
      for (const int stride : {1, 2, 3})
        compare_conv({.channels = 17,
                      .kernel = {kernel, kernel},
                      .strides = {stride, stride},
                      .pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2},
                      .group = 17,
                      .bias = true},
                     {2, 17, size, size});
}

// Depthwise windows of three to seven columns, whose first and last columns may lie outside the input, and windows that lie
// further outside.
TEST(convolution_compared, depthwise_borders) {
  for (const int kernel : {3, 5, 7})
    for (const int stride : {1, 2})
      for (const int width : {7, 8, 15, 20})
        for (const auto& pads : {std::array{0, 0, 0, 0},
                                 {0, 1, 2, 0},
                                 {1, 0, 0, 1},
                                 {kernel / 2, kernel / 2, 1, kernel - 1},
                                 {1, kernel - 1, 1, 0}})
          compare_conv({.channels = 18,
                        .kernel = {kernel, kernel},
                        .strides = {stride, stride},
                        .pads = pads,
                        .group = 18,
                        .bias = true},
                       {1, 18, 9, width}, ops::relu{}, width == 8);
  compare_conv({.channels = 18, .kernel = {3, 3}, .dilations = {2, 2}, .pads = {2, 2, 2, 2}, .group = 18}, {1, 18, 20, 19});
  // The only window is wider than the row.
  compare_conv({.channels = 18, .kernel = {2, 2}, .strides = {2, 2}, .pads = {0, 0, 0, 1}, .group = 18}, {1, 18, 4, 1});
}

// NaN reaches only the results whose windows contain it, and the maxima over these results.
TEST(convolution_compared, not_a_number) {
  const ops::conv op{.channels = 21, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  for (const std::int64_t channels : {3, 18})
    for (const bool pools_2x2 : {false, true}) {
      if (pools_2x2 && !can_halve) continue;
      auto p = problem_of(op, {1, channels, 9, 30});
      p.pools_2x2 = pools_2x2;
      p.inputs[0][4 * 30 + 17] = std::numeric_limits<float>::quiet_NaN();
      const auto expected = expected_of(p, ops::relu{});
      ASSERT_EQ(std::count_if(expected.begin(), expected.end(), [](float x) { return std::isnan(x); }),
                21 * (pools_2x2 ? 4 : 9));
      compare(p, "NaN", ops::relu{});
    }
}

// Results of infinite sums are those of the activation's formula: with a slope of 0, -∞ becomes NaN.
TEST(convolution_compared, infinite_sums) {
  if (!can_halve) GTEST_SKIP() << "this backend may choose Winograd's algorithm";
  auto p = problem_of({.channels = 21, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}, {1, 5, 9, 30});
  p.inputs[0][4 * 30 + 17] = std::numeric_limits<float>::infinity();
  for (const float slope : {-0.5f, 0.0f, 0.2f, 1.0f, 2.0f}) {
    const ops::leaky_relu activation{.alpha = slope};
    compare(p, "slope " + std::to_string(slope), activation);
    compare(with_residual(p), "slope " + std::to_string(slope) + ", residual", activation);
  }
}

// ∞ and NaN reach only results of their own group, also where a block of channels holds several groups.
TEST(convolution_compared, groups_with_infinity) {
  const auto check = [](const ops::conv& op, const shape& in, const ending& e, bool pools_2x2 = false) {
    if (pools_2x2 && !can_halve) return;
    auto p = problem_of(op, in);
    p.pools_2x2 = pools_2x2;
    const auto channel = in.product(2, in.rank);
    p.inputs[0][channel + 5] = std::numeric_limits<float>::infinity();
    p.inputs[0][(in[1] - 2) * channel + 3] = std::numeric_limits<float>::quiet_NaN();
    const auto expected = expected_of(p, e);
    const auto finite = std::count_if(expected.begin(), expected.end(), [](float x) { return std::isfinite(x); });
    ASSERT_GT(finite, static_cast<std::ptrdiff_t>(expected.size() / 2));
    compare(pools_2x2 ? p : with_residual(p), text(op, in), e);
  };
  const auto conv = [](std::int64_t channels, int kernel, int stride, std::int64_t groups) {
    const int pad = kernel / 2;
    return ops::conv{.channels = channels,
                     .kernel = {kernel, kernel},
                     .strides = {stride, stride},
                     .pads = {pad, pad, pad, pad},
                     .group = groups,
                     .bias = true};
  };
  for (const int kernel : {1, 3})
    for (const int stride : {1, 2})
      for (const std::int64_t channels : {1, 3, 8}) {  // of a group: planes, blocks that groups divide evenly and not
        check(conv(20, kernel, stride, 4), {2, 4 * channels, 9, 13}, ops::relu{});
        check(conv(24, kernel, stride, 8), {1, 8 * channels, 9, 13}, ops::sigmoid{});
      }
  check(conv(24, 3, 1, 8), {1, 40, 9, 30}, ops::relu{}, true);
  check(conv(16, 5, 1, 4), {1, 96, 6, 5}, ops::clip{.low = -1, .high = 1});  // weights beyond the cache
  check(conv(40, 3, 1, 40), {1, 40, 9, 13}, ops::relu{});
}

// Maps large enough for threads to share them by rows.
TEST(convolution_compared, large_depthwise) {
  for (const int stride : {1, 2})
    compare_conv(
        {.channels = 40, .kernel = {3, 3}, .strides = {stride, stride}, .pads = {1, 1, 1, 1}, .group = 40, .bias = true},
        {2, 40, 61, 50}, ops::relu{});
}

TEST(convolution_compared, one_dimension) {
  for (const int length : {5, 16, 100})
    for (const int stride : {1, 2, 3})
      for (const std::int64_t group : {1, 4})
        compare_conv({.channels = 8,
                      .kernel = {1, 5},
                      .strides = {1, stride},
                      .dilations = {1, 2},
                      .pads = {0, 4, 0, 4},
                      .group = group,
                      .bias = true},
                     {2, 4, length});
}

// 1x1 without padding reads the input in place: sizes around the vectors' widths, and planes of 4 KiB that are copied.
TEST(convolution_compared, pointwise) {
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 32})
    compare_conv({.channels = 19, .bias = true}, {1, 40, size, size}, ops::relu{}, true);
  for (const int length : {15, 16, 17, 31, 33, 47, 48, 49, 64, 65, 97}) compare_conv({.channels = 9}, {2, 7, 1, length});
}

// With strides, its pixels are copied and then lie in one row, as above; with padding or a part of the columns, they do not.
TEST(convolution_compared, strided_pointwise) {
  for (const int size : {2, 5, 13, 14, 15, 27})
    for (const int pad : {0, 1})
      compare_conv({.channels = 33, .strides = {2, 2}, .pads = {pad, pad, pad, pad}, .bias = true}, {2, 40, size, size + 1},
                   ops::relu{}, true);
}

// Rows of every number of pixels up to a few tiles, and channels beyond the weights that tiles use one after the other.
TEST(convolution_compared, row_lengths) {
  for (int width = 1; width < 33; ++width)
    compare_conv({.channels = 17, .kernel = {3, 3}, .strides = {2, 1}, .pads = {1, 1, 1, 1}, .bias = true},
                 {1, 19, 5, width}, ops::sigmoid{}, width % 2 == 0);
  compare_conv({.channels = 33, .bias = true}, {1, 600, 5, 5}, ops::relu{}, true);
}

// Inputs of several bands of rows, and more tiles than threads.
TEST(convolution_compared, bands) {
  const ops::conv op{.channels = 11, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  const shape in{2, 40, 120, 90}, result = graph::infer(op, {&in, 1});
  ASSERT_GT(algorithm::convolution(op, in, result).bands(), 2);
  compare_conv(op, in, ops::relu{}, true);
  const ops::conv strided{.channels = 5, .kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}, .bias = true};
  ASSERT_GT(
      algorithm::convolution(strided, {1, 64, 121, 91}, graph::infer(strided, std::array{shape{1, 64, 121, 91}})).bands(),
      1);
  compare_conv(strided, {1, 64, 121, 91});
  compare_conv({.channels = 24, .kernel = {1, 1}}, {1, 512, 21, 23});
}

#endif

}  // namespace
