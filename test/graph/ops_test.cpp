// Shape and region rules, with figures worked out by hand from the ONNX specification.
#include "dice/graph/graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

using namespace dice;
using tensor::region;
using tensor::shape;

template <class Op, class... S> constexpr shape infer(const Op& op, const S&... in) {
  const std::array<shape, sizeof...(S)> all{in...};
  return graph::infer(op, all);
}
template <class Op> constexpr bool refuses(const Op& op, const shape& in) {
  try {
    infer(op, in);
    return false;
  } catch (const graph::model_error&) {
    return true;
  }
}
constexpr shape image{1, 3, 224, 224};

static_assert(infer(ops::conv{.channels = 64, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}}, image) ==
              shape{1, 64, 112, 112});
static_assert(infer(ops::conv{.channels = 8, .kernel = {3, 5}, .strides = {1, 2}, .dilations = {2, 1}, .pads = {0, 1, 2, 3}},
                    shape{2, 3, 10, 11}) == shape{2, 8, 8, 6});
static_assert(infer(ops::conv{.channels = 8, .kernel = {1, 3}, .pads = {0, 1, 0, 1}}, shape{1, 4, 10}) == shape{1, 8, 10});
static_assert(graph::macs(ops::conv{.channels = 64, .kernel = {3, 3}, .group = 4}, std::array{shape{1, 8, 5, 5}},
                          shape{1, 64, 3, 3}) == 64 * 9 * 2 * 9);
static_assert(graph::macs(ops::mat_mul{.columns = 6, .depth = 4}, std::array{shape{2, 3, 4}}, shape{2, 3, 6}) ==
              2 * 3 * 6 * 4);
static_assert(graph::macs(ops::gemm{.columns = 10, .depth = 4}, std::array{shape{3, 4}}, shape{3, 10}) == 3 * 10 * 4);
static_assert(graph::macs(ops::max_pool{.kernel = {2, 2}}, std::array{shape{1, 4, 4, 4}}, shape{1, 4, 3, 3}) == 0);
// ceil_mode keeps a partial last window; a window that would start in the end padding is dropped.
static_assert(infer(ops::max_pool{.kernel = {3, 3}, .strides = {2, 2}, .ceil_mode = true}, shape{1, 4, 13, 14}) ==
              shape{1, 4, 6, 7});
static_assert(infer(ops::max_pool{.kernel = {2, 2}, .strides = {3, 3}, .pads = {1, 1, 1, 1}, .ceil_mode = true},
                    shape{1, 1, 5, 6}) == shape{1, 1, 2, 3});
// A window that is larger than the input by less than a stride gives one output.
static_assert(infer(ops::max_pool{.kernel = {3, 3}, .strides = {2, 2}, .ceil_mode = true}, shape{1, 1, 2, 3}) ==
              shape{1, 1, 1, 1});
static_assert(infer(ops::average_pool{.kernel = {2, 2}, .strides = {2, 2}, .dilations = {2, 2}}, shape{1, 1, 7, 7}) ==
              shape{1, 1, 3, 3});
static_assert(infer(ops::global_average_pool{}, shape{2, 5, 7, 9}) == shape{2, 5, 1, 1});
static_assert(infer(ops::gemm{.columns = 10, .depth = 4}, shape{3, 4}) == shape{3, 10});
static_assert(infer(ops::mat_mul{.columns = 6, .depth = 4}, shape{2, 3, 4}) == shape{2, 3, 6});
static_assert(infer(ops::add{}, shape{1, 3, 4, 4}, shape{3, 1, 1}) == shape{1, 3, 4, 4});
static_assert(infer(ops::mul{.which = ops::constant::second, .fixed = {2, 1, 3, 1}}, shape{3, 4}) == shape{2, 1, 3, 4});
static_assert(infer(ops::concat{.axis = 1}, shape{1, 3, 2}, shape{1, 5, 2}) == shape{1, 8, 2});
static_assert(infer(ops::flatten{.axis = 0}, shape{2, 3, 4}) == shape{1, 24});
static_assert(infer(ops::reduce{.over = {false, false, true, true}, .keep = false}, shape{2, 3, 4, 5}) == shape{2, 3});
static_assert(infer(ops::transpose{.perm = {0, 2, 1, 3, 4}}, shape{1, 2, 3, 4, 5}) == shape{1, 3, 2, 4, 5});
static_assert(infer(ops::gather{.axis = 1, .count = 5}, shape{1, 3, 4}) == shape{1, 5, 4});
static_assert(infer(ops::cum_sum{.axis = 1}, shape{1, 3, 4}) == shape{1, 3, 4});
// 65 matrices by a constant stack of as many, and by one matrix.
static_assert(infer(ops::einsum{.of = {{{0, 1, -1}, {0, -1, 2}}},
                                .rank = 3,
                                .depth = {2, 1},
                                .which = ops::constant::second,
                                .fixed = {65, 3, 4}},
                    shape{65, 2, 3}) == shape{65, 2, 4});
static_assert(graph::macs(ops::einsum{.of = {{{0, 1, -1}, {0, -1, 2}}},
                                      .rank = 3,
                                      .depth = {2, 1},
                                      .which = ops::constant::first,
                                      .fixed = {1, 2, 3}},
                          std::array{shape{65, 3, 4}}, {65, 2, 4}) == 65 * 2 * 4 * 3);
static_assert(infer(ops::pad{.before = {5}, .after = {9}, .mode = ops::padding::wrap}, shape{3}) == shape{17});
static_assert(infer(ops::pad{.before = {0, 0, 1, -1}, .after = {0, 0, 2, 0}}, shape{1, 1, 4, 4}) == shape{1, 1, 7, 3});
static_assert(infer(ops::resize{.factors = {1, 1, 2, 3}}, shape{1, 4, 5, 6}) == shape{1, 4, 10, 18});
static_assert(infer(ops::antialiased_resize{.axis = 2, .to = 2, .scale = 0.4f}, shape{1, 4, 5, 6}) == shape{1, 4, 2, 6});
static_assert(infer(ops::sum{}, shape{1, 3, 1}, shape{2, 1, 1}, shape{4}) == shape{2, 3, 4});

TEST(Ops, RefuseWhatDoesNotFit) {
  EXPECT_TRUE(refuses(ops::conv{.channels = 4, .kernel = {9, 9}}, {1, 3, 4, 4}));
  EXPECT_TRUE(refuses(ops::conv{.channels = 4, .group = 2}, {1, 3, 4, 4}));
  EXPECT_TRUE(refuses(ops::conv{.channels = 4, .strides = {0, 1}}, {1, 3, 4, 4}));
  EXPECT_TRUE(refuses(ops::gemm{.columns = 2, .depth = 5}, {1, 4}));
  // A window without any element of the input has no largest one and no mean; its sum is 0.
  const auto pools = [](std::array<int, 2> kernel, std::array<int, 2> dilations, std::array<int, 4> pads, shape in) {
    const bool refused = refuses(ops::max_pool{.kernel = kernel, .dilations = dilations, .pads = pads}, in);
    EXPECT_EQ(refuses(ops::average_pool{.kernel = kernel, .dilations = dilations, .pads = pads}, in), refused);
    EXPECT_FALSE(refuses(ops::average_pool{kernel, {1, 1}, dilations, pads, false, true}, in));
    return refused;
  };
  EXPECT_TRUE(pools({1, 2}, {1, 1}, {0, 2, 0, 0}, {1, 1, 3}));
  EXPECT_TRUE(pools({1, 2}, {1, 1}, {0, 0, 0, 2}, {1, 1, 3}));
  EXPECT_TRUE(pools({2, 1}, {1, 1}, {2, 0, 0, 0}, {1, 1, 3, 3}));
  EXPECT_TRUE(pools({1, 2}, {1, 4}, {0, 1, 0, 1}, {1, 1, 3})) << "elements -1 and 3";
  EXPECT_TRUE(pools({1, 2}, {1, 2}, {0, 1, 0, 1}, {1, 1, 1}));
  EXPECT_FALSE(pools({1, 3}, {1, 2}, {0, 2, 0, 2}, {1, 1, 1})) << "elements -2, 0 and 2";
  EXPECT_FALSE(pools({1, 2}, {1, 4}, {0, 2, 0, 2}, {1, 1, 4})) << "elements -2 and 2, -1 and 3, 0 and 4, 1 and 5";
  EXPECT_FALSE(pools({1, 2}, {1, 1}, {0, 1, 0, 1}, {1, 1, 3}));
  EXPECT_FALSE(refuses(ops::max_pool{.kernel = {1, 2}, .strides = {1, 3}, .pads = {0, 0, 0, 2}}, {1, 1, 2}));
  EXPECT_TRUE(refuses(ops::reshape{.to = {5}}, {4}));
  EXPECT_TRUE(refuses(ops::slice{.starts = {3}, .extents = {2}}, {4}));
  EXPECT_TRUE(refuses(ops::transpose{.perm = {0, 0}}, {2, 2}));
  EXPECT_TRUE(refuses(ops::softmax{.first = 1, .last = 4}, {2, 2}));
  EXPECT_TRUE(refuses(ops::pad{.before = {3}, .mode = ops::padding::reflect}, {3}));
  EXPECT_TRUE(refuses(ops::gather{.axis = 2, .count = 1}, {2, 3}));
  EXPECT_TRUE(refuses(ops::gather{.axis = -1, .count = 1}, {2, 3}));
  EXPECT_TRUE(refuses(ops::gather{.axis = 1, .count = 0}, {2, 3}));
  EXPECT_FALSE(refuses(ops::gather{.axis = 1, .count = 1}, {2, 1 << 24}));
  EXPECT_TRUE(refuses(ops::gather{.axis = 1, .count = 1}, {2, (1 << 24) + 1})) << "float32 lacks some indices";
  EXPECT_TRUE(refuses(ops::cum_sum{.axis = 2}, {2, 3}));
  EXPECT_TRUE(refuses(ops::cum_sum{.axis = -1}, {2, 3}));
  const ops::einsum by_constant{
      .of = {{{0, -1}, {-1, 1}}}, .rank = 2, .depth = {1, 0}, .which = ops::constant::second, .fixed = {3, 4}};
  EXPECT_FALSE(refuses(by_constant, {2, 3}));
  EXPECT_TRUE(refuses(by_constant, {2, 4})) << "another depth";
  EXPECT_TRUE(refuses(ops::resize{.factors = {1, 0}}, {3, 3}));
  ops::resize many{.mode = ops::resizing::linear, .to = {2, 2, 2, 2, 2}, .scales = {2, 2, 2, 2, 2}};
  EXPECT_TRUE(refuses(many, {1, 1, 1, 1, 1}));
  many.mode = ops::resizing::nearest;
  EXPECT_FALSE(refuses(many, {1, 1, 1, 1, 1}));
  EXPECT_TRUE(refuses(ops::antialiased_resize{.axis = 1, .to = 1}, {3}));
  EXPECT_TRUE(refuses(ops::antialiased_resize{.to = 1, .mode = ops::resizing::nearest}, {3}));
  EXPECT_TRUE(refuses(ops::antialiased_resize{.to = 1, .from = ops::coordinates::tf_crop_and_resize}, {3}));
  EXPECT_TRUE(refuses(ops::antialiased_resize{.to = 1, .scale = 1e-7f}, {3}));
  EXPECT_TRUE(refuses(ops::antialiased_resize{.to = 5'000'000}, {3}));
  EXPECT_THROW(infer(ops::add{}, shape{3}, shape{4}), graph::model_error);
  EXPECT_THROW(infer(ops::concat{.axis = 0}, shape{3, 2}, shape{3, 3}), graph::model_error);
}

// Views.
static_assert(graph::view(ops::slice{.starts = {0, 2}, .extents = {1, 3, 4, 4}}, std::array{shape{1, 8, 4, 4}},
                          shape{1, 3, 4, 4}) == 32);
static_assert(graph::view(ops::slice{.starts = {0, 2}, .extents = {2, 3}}, std::array{shape{2, 8}}, shape{2, 3}) == -1);
static_assert(graph::view(ops::slice{.starts = {0, 1}, .steps = {1, 2}, .extents = {1, 2}}, std::array{shape{1, 4}},
                          shape{1, 2}) == -1);
static_assert(graph::view(ops::transpose{.perm = {1, 0, 2}}, std::array{shape{1, 5, 6}}, shape{5, 1, 6}) == 0);
static_assert(graph::view(ops::transpose{.perm = {1, 0}}, std::array{shape{5, 6}}, shape{6, 5}) == -1);
static_assert(graph::joins(ops::concat{.axis = 1}, 1, std::array{shape{1, 3, 2}, shape{1, 5, 2}}, shape{1, 8, 2}) == 6);
static_assert(graph::joins(ops::concat{.axis = 1}, 1, std::array{shape{2, 3, 2}, shape{2, 5, 2}}, shape{2, 8, 2}) == -1);

/// Elements of the input that an output region of a windowed operator reads, one by one.
region touched(const ops::detail::window& w, const region& out, const shape& in) {
  region r;
  bool first = true;
  for (auto y = out.begin[2]; y < out.end[2]; ++y)
    for (auto x = out.begin[3]; x < out.end[3]; ++x)
      for (int ky = 0; ky < w.kernel[0]; ++ky)
        for (int kx = 0; kx < w.kernel[1]; ++kx) {
          const auto iy = y * w.strides[0] - w.pads[0] + ky * w.dilations[0],
                     ix = x * w.strides[1] - w.pads[1] + kx * w.dilations[1];
          if (iy < 0 || iy >= in[2] || ix < 0 || ix >= in[3]) continue;
          region one;
          one.begin[2] = iy;
          one.end[2] = iy + 1;
          one.begin[3] = ix;
          one.end[3] = ix + 1;
          r = first ? one : tensor::hull(r, one);
          first = false;
        }
  r.begin[1] = 0;
  r.end[1] = in[1];
  return r;
}

TEST(Ops, AWindowNeedsWhatItTouches) {
  const shape in{1, 2, 12, 13};
  for (int stride : {1, 2, 3})
    for (int dilation : {1, 2})
      for (int pad : {0, 1}) {
        const ops::conv op{
            .channels = 4, .kernel = {3, 2}, .strides = {stride, 1}, .dilations = {dilation, 1}, .pads = {pad, pad, 0, 1}};
        const auto out = infer(op, in);
        for (std::int64_t y = 0; y < out[2]; ++y)
          for (std::int64_t end = y + 1; end <= out[2]; ++end) {
            region part = tensor::whole(out);
            part.begin[2] = y;
            part.end[2] = end;
            part.begin[3] = 1;
            part.end[3] = 4;
            const auto needed = graph::input_region(op, 0, part, std::array{in}, out), read = touched(op.window(), part, in);
            EXPECT_TRUE(tensor::contains(needed, read));
            EXPECT_TRUE(dilation > 1 || needed == read);  // a dilated window may skip the first row
          }
      }
}

TEST(Ops, RegionsOfOtherOperators) {
  const auto box = [](std::array<std::int64_t, 4> b, std::array<std::int64_t, 4> e) {
    region r;
    for (int a = 0; a < 4; ++a) {
      r.begin[a] = b[a];
      r.end[a] = e[a];
    }
    return r;
  };
  const auto part = box({0, 2, 1, 0}, {1, 6, 3, 4});
  EXPECT_EQ(graph::input_region(ops::relu{}, 0, part, std::array{shape{1, 8, 4, 4}}, shape{1, 8, 4, 4}), part);
  // A channel range of a grouped convolution needs only its groups' channels.
  EXPECT_EQ(graph::input_region(ops::conv{.channels = 8, .group = 4}, 0, box({0, 2, 0, 0}, {1, 4, 4, 4}),
                                std::array{shape{1, 12, 4, 4}}, shape{1, 8, 4, 4}),
            box({0, 3, 0, 0}, {1, 6, 4, 4}));
  // A pool needs the channels of its output.
  EXPECT_EQ(graph::input_region(ops::max_pool{.kernel = {2, 2}}, 0, part, std::array{shape{1, 8, 5, 5}}, shape{1, 8, 4, 4}),
            box({0, 2, 1, 0}, {1, 6, 4, 5}));
  EXPECT_EQ(
      graph::input_region(ops::average_pool{.kernel = {2, 2}}, 0, part, std::array{shape{1, 8, 5, 5}}, shape{1, 8, 4, 4}),
      box({0, 2, 1, 0}, {1, 6, 4, 5}));
  EXPECT_EQ(graph::input_region(ops::global_average_pool{}, 0, box({0, 2, 0, 0}, {1, 6, 1, 1}),
                                std::array{shape{1, 8, 4, 4}}, shape{1, 8, 1, 1}),
            box({0, 2, 0, 0}, {1, 6, 4, 4}));
  // Second operand of a Concat along channels.
  EXPECT_EQ(graph::input_region(ops::concat{.axis = 1}, 1, part, std::array{shape{1, 3, 4, 4}, shape{1, 5, 4, 4}},
                                shape{1, 8, 4, 4}),
            box({0, 0, 1, 0}, {1, 3, 3, 4}));
  // An operand broadcast over H and W.
  EXPECT_EQ(graph::input_region(ops::mul{}, 1, part, std::array{shape{1, 8, 4, 4}, shape{1, 8, 1, 1}}, shape{1, 8, 4, 4}),
            box({0, 2, 0, 0}, {1, 6, 1, 1}));
  EXPECT_EQ(graph::input_region(ops::transpose{.perm = {0, 2, 3, 1}}, 0, box({0, 1, 0, 2}, {1, 2, 4, 6}),
                                std::array{shape{1, 8, 4, 4}}, shape{1, 4, 4, 8}),
            box({0, 2, 1, 0}, {1, 6, 2, 4}));
  EXPECT_EQ(graph::input_region(ops::slice{.starts = {0, 7, 0, 0}, .steps = {1, -2, 1, 1}, .extents = {1, 4, 4, 4}}, 0,
                                box({0, 1, 0, 0}, {1, 3, 4, 4}), std::array{shape{1, 8, 4, 4}}, shape{1, 4, 4, 4}),
            box({0, 3, 0, 0}, {1, 6, 4, 4}));
  EXPECT_EQ(graph::input_region(ops::lrn{.size = 4}, 0, part, std::array{shape{1, 8, 4, 4}}, shape{1, 8, 4, 4}),
            box({0, 1, 1, 0}, {1, 8, 3, 4}));
  EXPECT_EQ(graph::input_region(ops::resize{.factors = {1, 1, 2, 3}}, 0, box({0, 1, 3, 2}, {1, 2, 5, 6}),
                                std::array{shape{1, 8, 4, 4}}, shape{1, 8, 8, 12}),
            box({0, 1, 1, 0}, {1, 2, 3, 2}));
  EXPECT_EQ(graph::input_region(ops::flatten{}, 0, box({0, 20, 0, 0}, {1, 33, 1, 1}), std::array{shape{1, 8, 4, 4}},
                                shape{1, 128}),
            box({0, 1, 0, 0}, {1, 3, 4, 4}));
  // The axis behind the channels joins rows and columns.
  EXPECT_EQ(graph::input_region(ops::reshape{.to = {1, 8, 20}}, 0, box({0, 2, 5, 0}, {1, 6, 11, 1}),
                                std::array{shape{1, 8, 4, 5}}, shape{1, 8, 20}),
            box({0, 2, 1, 0}, {1, 6, 3, 5}));
  // Beside its input, a constant padding needs the nearest element.
  EXPECT_EQ(graph::input_region(ops::pad{.before = {0, 0, 2, 0}, .after = {0, 0, 9, 0}}, 0, box({0, 0, 8, 0}, {1, 8, 10, 4}),
                                std::array{shape{1, 8, 4, 4}}, shape{1, 8, 15, 4}),
            box({0, 0, 3, 0}, {1, 8, 4, 4}));
  EXPECT_EQ(graph::input_region(ops::pad{.before = {0, 0, 0, 1}, .mode = ops::padding::edge}, 0,
                                box({0, 2, 1, 0}, {1, 6, 3, 2}), std::array{shape{1, 8, 4, 4}}, shape{1, 8, 4, 5}),
            box({0, 2, 1, 0}, {1, 6, 3, 4}));
}

}  // namespace
