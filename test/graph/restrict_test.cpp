// Parts of operators: each computes the same bits as the whole operator, from its input regions and its share of the
// parameters alone.
#include "graph/parts.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <sstream>

namespace {

using namespace parts;

// By hand. The lower half of ResNet's first convolution: output rows 56 … 111 need input rows 109 … 225, the last two of
// which are padding; columns end two behind the image, too.
constexpr shape picture{1, 3, 224, 224}, features{1, 64, 112, 112};
constexpr ops::conv stem{.channels = 64, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}, .bias = true};
constexpr region lower{{0, 16, 56, 0}, {1, 48, 112, 112}};
constexpr auto half = graph::restrict(stem, lower, std::array{picture}, features);
static_assert(half.pads == std::array{0, 3, 2, 2} && half.channels == 32 && half.group == 1);
static_assert(graph::input_region(stem, 0, lower, std::array{picture}, features) ==
              region{{0, 0, 109, 0}, {1, 3, 224, 224}});
static_assert(graph::infer(half, std::array{shape{1, 3, 115, 224}}) == shape{1, 32, 56, 112});
static_assert(graph::parameter_region(stem, 0, lower, std::array{picture}, features, {64, 3, 7, 7}) ==
              region{{16, 0, 0, 0}, {48, 3, 7, 7}});
static_assert(graph::parameter_region(stem, 1, lower, std::array{picture}, features, {64}) == region{{16}, {48, 1, 1, 1}});

// Averages of 3 rows with stride 2 of 15 rows and one of padding: the last of 8 ends one row behind the padding.
constexpr ops::average_pool pool{
    .kernel = {3, 1}, .strides = {2, 1}, .pads = {0, 0, 1, 0}, .ceil_mode = true, .count_include_pad = true};
constexpr ops::average_pool part_of_pool(std::int64_t from, std::int64_t to) {
  return graph::restrict(pool, {{0, 0, from, 0}, {1, 8, to, 4}}, std::array{shape{1, 8, 15, 4}}, {1, 8, 8, 4});
}
static_assert(graph::infer(pool, std::array{shape{1, 8, 15, 4}}) == shape{1, 8, 8, 4});
static_assert(part_of_pool(5, 7).pads == std::array{0, 0, 0, 0} && !part_of_pool(5, 7).ceil_mode);
static_assert(part_of_pool(5, 8).pads == std::array{0, 0, 1, 0} && part_of_pool(5, 8).ceil_mode);
static_assert(graph::infer(part_of_pool(7, 8), std::array{shape{1, 8, 1, 4}}) == shape{1, 8, 1, 4});

/// The step of a cut along `axis`.
template <class Op> constexpr std::int64_t step(const Op& op, int axis, const shape& in) {
  return graph::cut_step(op, axis, std::array{in}, graph::infer(op, std::array{in}));
}
constexpr shape image{1, 48, 8, 6};
static_assert(step(ops::relu{}, 0, image) == 0 && step(ops::relu{}, 1, image) == 16 && step(ops::relu{}, 3, image) == 1);
static_assert(step(ops::relu{}, 2, {1, 48}) == 0 && step(ops::relu{}, 4, {1, 2, 3, 4, 5}) == 0);
static_assert(step(ops::input{.extents = image}, 1, image) == 0 && step(ops::output{}, 2, image) == 0);
// Groups: 16 outputs have whole blocks of 3 outputs and 3 inputs only three times; 8 groups of 2 outputs have 24 inputs.
static_assert(step(ops::conv{.channels = 48, .group = 16}, 1, image) == 48);
static_assert(step(ops::conv{.channels = 96, .group = 3}, 1, image) == 32);
static_assert(step(ops::conv{.channels = 12, .group = 6}, 1, image) == 16);
static_assert(step(ops::conv{.channels = 48, .group = 48}, 1, image) == 16);
static_assert(step(ops::conv{.channels = 40, .group = 5}, 1, {1, 40, 8, 6}) == 0, "the last part would have 8 channels");
static_assert(step(ops::conv{.channels = 33, .group = 33}, 1, {1, 33, 8, 6}) == 0, "the last part would have one channel");
// Windows beside the input.
static_assert(step(ops::conv{.channels = 16, .kernel = {2, 2}, .pads = {2, 0, 0, 0}}, 2, image) == 0);
static_assert(step(ops::conv{.channels = 16, .kernel = {2, 2}, .pads = {1, 0, 0, 0}}, 2, image) == 1);
static_assert(step(ops::average_pool{.kernel = {2, 2}, .pads = {0, 0, 0, 2}, .count_include_pad = true}, 1, image) == 0);
static_assert(step(ops::mat_mul{.columns = 64, .depth = 6}, 2, image) == 1);
static_assert(step(ops::gather{.axis = 1, .count = 40}, 1, image) == 16 &&
              step(ops::gather{.axis = 2, .count = 5}, 2, image) == 1);
static_assert(step(ops::cum_sum{.axis = 2}, 2, image) == 0 && step(ops::cum_sum{.axis = 2}, 3, image) == 1);
// An operand that has the axis behind its first four cannot be cut there.
static_assert(step(ops::einsum{.of = {{{0, 4, 2}, {-1, -1, -1}}},
                               .rank = 3,
                               .depth = {-1, -1},
                               .which = ops::constant::second,
                               .fixed = {1}},
                   1, {1, 1, 3, 1, 48}) == 0);
static_assert(step(ops::mat_mul{.columns = 64, .depth = 6}, 3, image) == 16);
static_assert(step(ops::concat{.axis = 2}, 2, image) == 1 && step(ops::concat{.axis = 1}, 1, image) == 16);
static_assert(step(ops::pad{.before = {0, 0, 1}}, 2, image) == 1);
static_assert(step(ops::pad{.before = {0, 0, 1}, .mode = ops::padding::edge}, 2, image) == 0);
static_assert(step(ops::pad{.before = {0, 0, 1}, .mode = ops::padding::edge}, 3, image) == 1);
static_assert(step(ops::resize{.factors = {1, 6, 2, 3}}, 1, image) == 48 &&
              step(ops::resize{.factors = {1, 6, 2, 3}}, 2, image) == 2);
static_assert(step(ops::global_average_pool{}, 1, image) == 16 && step(ops::global_average_pool{}, 2, image) == 0);
static_assert(step(ops::reduce{.over = {false, true}, .keep = false}, 1, image) == 16, "rows");
static_assert(step(ops::reduce{.over = {false, true}, .keep = false}, 2, image) == 0, "the last axis");
static_assert(step(ops::reduce{.over = {false, false, true, true}, .keep = false}, 1, {1, 40, 8, 6}) == 0);
static_assert(step(ops::reduce{.over = {false, true, false, true}}, 2, image) == 0, "between axes that would be joined");
static_assert(step(ops::softmax{}, 1, image) == 0 && step(ops::softmax{}, 2, image) == 1 &&
              step(ops::softmax{}, 3, image) == 0);
static_assert(step(ops::softmax{.first = 3, .last = 4}, 2, image) == 1);
static_assert(step(ops::softmax{.first = 2, .last = 3}, 3, image) == 0, "a part of one column has single sums");
static_assert(step(ops::lrn{.size = 3}, 1, image) == 0 && step(ops::lrn{.size = 3}, 2, image) == 1);
static_assert(step(ops::transpose{.perm = {0, 2, 3, 1}}, 1, image) == 16 &&
              step(ops::transpose{.perm = {1, 0}}, 1, {1, 48}) == 0);
static_assert(step(ops::slice{.extents = {1, 32, 8, 6}}, 1, image) == 16);
static_assert(step(ops::flatten{}, 1, image) == 16 * 48 && step(ops::flatten{.axis = 2}, 1, image) == 0);
static_assert(step(ops::reshape{.to = {1, 48, 48}}, 1, image) == 16 && step(ops::reshape{.to = {1, 48, 48}}, 2, image) == 6);
static_assert(step(ops::reshape{.to = {1, 6, 8, 48}}, 1, image) == 0);

TEST(Restrict, RefusesPartsThatDoNotFit) {
  const auto refuses = [](const auto& op, const region& out, const shape& in) {
    EXPECT_THROW(graph::restrict(op, out, std::array{in}, graph::infer(op, std::array{in})), graph::model_error) << op.onnx;
  };
  refuses(ops::conv{.channels = 48, .group = 3}, {{0, 8, 0, 0}, {1, 24, 8, 6}}, image);  // half of two groups
  refuses(ops::conv{.channels = 16, .kernel = {2, 2}, .pads = {2, 0, 0, 0}}, {{0, 0, 0, 0}, {1, 16, 1, 5}}, image);
  refuses(ops::resize{.factors = {1, 1, 2, 1}}, {{0, 0, 1, 0}, {1, 48, 4, 6}}, image);
  refuses(ops::flatten{}, {{0, 3, 0, 0}, {1, 96, 1, 1}}, image);
  refuses(ops::reshape{.to = {1, 48, 48}}, {{0, 0, 6, 0}, {1, 48, 17, 1}}, image);
}

std::string text(const region& r) {
  std::ostringstream out;
  for (int a = 0; a < region::axes; ++a) out << '[' << r.begin[a] << ", " << r.end[a] << ") ";
  return out.str();
}

::testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " elements instead of " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]))
      return ::testing::AssertionFailure() << "element " << i << " is " << a[i] << " instead of " << b[i];
  return ::testing::AssertionSuccess();
}

/// A random part that begins at multiples of `steps` (0: the axis is not cut).
region draw_part(const shape& s, const std::array<std::int64_t, region::axes>& steps, std::mt19937& draw) {
  region out = tensor::whole(s);
  for (int a = 0; a < region::axes; ++a) {
    const auto step = steps[a];
    if (step == 0) continue;
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(draw() % static_cast<unsigned>(n)); };
    const auto parts = (s[a] + step - 1) / step, from = below(parts), to = from + 1 + below(parts - from);
    out.begin[a] = from * step;
    out.end[a] = std::min(to * step, s[a]);
  }
  return out;
}
template <class Op> std::array<std::int64_t, region::axes> steps_of(const problem<Op>& p) {
  std::array<std::int64_t, region::axes> out{};
  for (int a = 0; a < region::axes; ++a) out[a] = graph::cut_step(p.op, a, graph::shapes(p.in), p.result());
  return out;
}

#ifdef DICE_WITH_OPENMP
constexpr auto openmp = algorithm::backend::openmp;

/// Steps for a variant of OpenMP's kernels: Winograd's parts begin at tiles.
template <class Op>
void align(const Op&, const graph::shapes&, const shape&, int, std::array<std::int64_t, region::axes>&) {}
void align(const ops::conv& op, const graph::shapes& in, const shape& result, int variant,
           std::array<std::int64_t, region::axes>& steps) {
  if (variant == 0) return;
  const algorithm::winograd tiles(variant, op, in[0], result);
  steps[2] = tiles.y.outputs;
  steps[3] = tiles.x.outputs;
}

template <class Op> void check_openmp(const layer<Op>& l, int draws) {
  auto p = l.whole;
  const auto result = p.result();
  const graph::shapes in(p.in);
  for (int v = 0; v < algorithm::variants<openmp>(p.op, in); ++v)
    for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
      p.layout = layout;
      const auto expected = compute<kernels::openmp::backend>(p, {}, algorithm::variant<openmp>(p.op, in, result, v));
      auto steps = steps_of(p);
      align(p.op, in, result, v, steps);
      std::mt19937 draw(11);
      for (int n = 0; n < draws; ++n) {
        const auto out = draw_part(result, steps, draw);
        auto part = part_of(l, out).whole;
        part.layout = layout;
        part.threads = 1 + n % 3;
        const graph::shapes of_part(part.in);
        if (v >= algorithm::variants<openmp>(part.op, of_part)) continue;  // too few channels for Winograd's algorithm
        const auto found =
            compute<kernels::openmp::backend>(part, {}, algorithm::variant<openmp>(part.op, of_part, part.result(), v));
        ASSERT_TRUE(same_bits(found, cut(expected, result, out)))
            << p.op.onnx << ", variant " << v << (layout == tensor::layout::plain ? ", plain, " : ", blocked, ")
            << text(out);
      }
    }
}
#else
template <class Op> void check_openmp(const layer<Op>&, int) {}
#endif

/// Parts of the layer are the same as in the whole, in random places.
template <class Op> void check_parts(const layer<Op>& l, int draws = 30) {
  const auto& p = l.whole;
  const auto result = p.result(), shape_of_whole = result;
  const auto expected = compute<kernels::reference::backend>(p);
  const auto steps = steps_of(p);
  std::mt19937 draw(7);
  int cuts = 0;
  for (int n = 0; n < draws; ++n) {
    const auto out = draw_part(result, steps, draw);
    const auto part = part_of(l, out).whole;
    ASSERT_EQ(part.result(), tensor::extents(out, result)) << p.op.onnx << ' ' << text(out);
    ASSERT_TRUE(same_bits(compute<kernels::reference::backend>(part), cut(expected, result, out)))
        << p.op.onnx << ' ' << text(out);
    cuts += part.result() != shape_of_whole;
  }
  EXPECT_GT(cuts, 0) << p.op.onnx << " was never cut: this shows nothing";
  check_openmp(l, draws / 2);
}

TEST(Restrict, Windows) {
  for (const int stride : {1, 2, 3})
    for (const int dilation : {1, 2})
      for (const int groups : {1, 2}) {
        const ops::conv op{.channels = 36,
                           .kernel = {3, 2},
                           .strides = {stride, 2},
                           .dilations = {1, dilation},
                           .pads = {1, 1, 0, 1},
                           .group = groups,
                           .bias = stride != 2};
        std::vector<shape> parameters{{36, 6 / groups, 3, 2}};
        if (op.bias) parameters.push_back({36});
        check_parts(of(op, {{2, 6, 11, 12}}, parameters));
        for (const bool rounds_up : {false, true}) {
          const std::array pads{1, 2, 2, 1};
          check_parts(of(ops::max_pool{.kernel = {3, 4},
                                       .strides = {stride, 2},
                                       .dilations = {dilation, 1},
                                       .pads = pads,
                                       .ceil_mode = rounds_up},
                         {{2, 20, 11, 12}}));
          for (const bool counts : {false, true})
            check_parts(of(ops::average_pool{.kernel = {3, 4},
                                             .strides = {stride, 3},
                                             .dilations = {1, dilation},
                                             .pads = pads,
                                             .ceil_mode = rounds_up,
                                             .count_include_pad = counts},
                           {{1, 20, 10, 13}}));
        }
      }
  // Windows larger than any part, and than the input.
  check_parts(of(ops::conv{.channels = 17, .kernel = {7, 5}, .pads = {3, 2, 3, 2}, .bias = true}, {{1, 18, 6, 9}},
                 {{17, 18, 7, 5}, {17}}));
  check_parts(of(ops::conv{.channels = 3, .kernel = {9, 1}, .dilations = {2, 1}, .pads = {9, 0, 9, 0}}, {{1, 2, 5, 4}},
                 {{3, 2, 9, 1}}));
  check_parts(of(ops::max_pool{.kernel = {5, 5}, .strides = {4, 4}, .ceil_mode = true}, {{1, 3, 10, 7}}));
  check_parts(of(ops::average_pool{.kernel = {5, 5}, .strides = {4, 4}, .ceil_mode = true, .count_include_pad = true},
                 {{1, 3, 10, 7}}));
  // Rows alone.
  check_parts(of(ops::conv{.channels = 33, .kernel = {1, 3}, .strides = {1, 2}, .pads = {0, 1, 0, 1}, .bias = true},
                 {{1, 20, 30}}, {{33, 20, 1, 3}, {33}}));
  check_parts(
      of(ops::max_pool{.kernel = {1, 3}, .strides = {1, 2}, .pads = {0, 1, 0, 0}, .ceil_mode = true}, {{2, 17, 30}}));
  check_parts(of(ops::average_pool{.kernel = {1, 3}, .pads = {0, 1, 0, 1}}, {{2, 17, 30}}));
}

TEST(Restrict, Convolutions) {
  // One tap, without padding; strided.
  check_parts(of(ops::conv{.channels = 40, .bias = true}, {{1, 33, 9, 10}}, {{40, 33, 1, 1}, {40}}));
  check_parts(of(ops::conv{.channels = 40, .strides = {2, 2}}, {{1, 16, 9, 10}}, {{40, 16, 1, 1}}));
  // A few channels.
  check_parts(of(ops::conv{.channels = 20, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}, .bias = true},
                 {{1, 3, 21, 24}}, {{20, 3, 7, 7}, {20}}));
  // Depthwise, the last part two channels.
  for (const int stride : {1, 2})
    check_parts(of(
        ops::conv{
            .channels = 34, .kernel = {3, 3}, .strides = {stride, stride}, .pads = {1, 1, 1, 1}, .group = 34, .bias = true},
        {{1, 34, 9, 11}}, {{34, 1, 3, 3}, {34}}));
  // Groups: of 8 to 8, 8 to 4, 32 to 32 channels; several outputs of each channel.
  check_parts(of(ops::conv{.channels = 48, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .group = 6, .bias = true},
                 {{1, 48, 7, 8}}, {{48, 8, 3, 3}, {48}}));
  check_parts(
      of(ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {0, 1, 1, 0}, .group = 8}, {{1, 64, 7, 8}}, {{32, 8, 3, 3}}));
  check_parts(
      of(ops::conv{.channels = 96, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .group = 3}, {{1, 96, 7, 8}}, {{96, 32, 3, 3}}));
  check_parts(of(ops::conv{.channels = 128, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .group = 32}, {{1, 32, 7, 8}},
                 {{128, 1, 3, 3}}));
  // Those with Winograd's algorithm.
  const auto winograd = [](std::array<int, 2> kernel, std::array<int, 4> pads, shape in, std::int64_t channels) {
    check_parts(of(ops::conv{.channels = channels, .kernel = kernel, .pads = pads, .bias = true}, {in},
                   {{channels, in[1], kernel[0], kernel[1]}, {channels}}),
                20);
  };
  winograd({3, 3}, {1, 1, 1, 1}, {1, 16, 25, 30}, 48);
  winograd({3, 3}, {0, 2, 1, 0}, {2, 19, 13, 33}, 37);
  winograd({5, 5}, {2, 2, 2, 2}, {1, 16, 15, 20}, 32);
  winograd({1, 7}, {0, 3, 0, 3}, {1, 16, 5, 40}, 32);
  winograd({7, 1}, {3, 0, 3, 0}, {1, 16, 40, 5}, 32);
  winograd({1, 3}, {0, 1, 0, 1}, {1, 16, 5, 40}, 32);
  winograd({3, 1}, {1, 0, 1, 0}, {1, 16, 40, 5}, 32);
}

TEST(Restrict, Matrices) {
  check_parts(of(ops::gemm{.columns = 70, .depth = 37, .bias = true}, {{3, 37}}, {{70, 37}, {70}}));
  check_parts(of(ops::gemm{.columns = 48, .depth = 16}, {{1, 16}}, {{48, 16}}));
  check_parts(of(ops::mat_mul{.columns = 37, .depth = 19}, {{2, 9, 19}}, {{37, 19}}));
  check_parts(of(ops::mat_mul{.columns = 37, .depth = 19}, {{1, 20, 3, 19}}, {{37, 19}}));
  check_parts(of(ops::mat_mul{.columns = 37, .depth = 19}, {{5, 19}}, {{37, 19}}));
  check_parts(of(ops::mat_mul{.columns = 5, .depth = 6}, {{1, 17, 3, 2, 6}}, {{5, 6}}));
  check_parts(of(ops::mat_mul{.columns = 50, .depth = 300, .bias = true}, {{1, 33, 300}}, {{50, 300}, {50}}));
}

TEST(Restrict, Elementwise) {
  const auto all = [](auto... op) {
    (check_parts(of(op, {{2, 35, 6, 7}})), ...);
    (check_parts(of(op, {{2, 35, 9}})), ...);
    (check_parts(of(op, {{3, 35}})), ...);
  };
  all(ops::clip{.low = -0.25f, .high = 0.5f}, ops::dropout{}, ops::elementwise{.function = {graph::activation::kind::gelu}},
      ops::elu{}, ops::hard_sigmoid{}, ops::hard_swish{}, ops::identity{}, ops::leaky_relu{}, ops::relu{}, ops::sigmoid{},
      ops::tanh{});
  check_parts(of(ops::relu{}, {{1, 17, 3, 4, 5}}));
  check_parts(of(ops::batch_normalization{}, {{2, 35, 6, 7}}, {{35}, {35}}));
  check_parts(of(ops::batch_normalization{}, {{2, 35, 9}}, {{35}, {35}}));
  check_parts(of(ops::batch_normalization{}, {{2, 35}}, {{35}, {35}}));
}

TEST(Restrict, Broadcasts) {
  const shape wide{2, 35, 6, 7};
  const auto all = [&](auto op) {
    for (const shape& other : {wide, {1, 35, 1, 1}, {35, 1, 1}, {7}, {6, 1}, {2, 1, 6, 7}, {1}}) {
      check_parts(of(op, {wide, other}));
      check_parts(of(op, {other, wide}));
      for (const auto which : {ops::constant::first, ops::constant::second}) {
        op.which = which;
        op.fixed = other;
        check_parts(of(op, {wide}, {other}));
        op.fixed = wide;
        check_parts(of(op, {other}, {wide}));
      }
      op.which = ops::constant::none;
      op.fixed = {};
    }
  };
  all(ops::add{});
  all(ops::sub{});
  all(ops::mul{});
  all(ops::div{});
  all(ops::max{});
  all(ops::min{});
  all(ops::p_relu{});
  check_parts(of(ops::add{}, {{1, 17, 3, 4, 5}, {3, 4, 5}}));
  check_parts(of(ops::mul{.which = ops::constant::second, .fixed = {17, 1, 4, 1}}, {{1, 17, 3, 4, 5}}, {{17, 1, 4, 1}}));
  check_parts(of(ops::sum{}, {wide, {35, 1, 1}, {2, 1, 6, 7}}));
  check_parts(of(ops::sum{}, {wide, wide}));
}

TEST(Restrict, Movements) {
  check_parts(of(ops::concat{.axis = 1}, {{1, 16, 5, 6}, {1, 3, 5, 6}, {1, 32, 5, 6}}));
  check_parts(of(ops::concat{.axis = 1}, {{1, 16, 5, 6}, {1, 16, 5, 6}, {1, 7, 5, 6}}));
  check_parts(of(ops::concat{.axis = 3}, {{1, 20, 5, 6}, {1, 20, 5, 2}, {1, 20, 5, 1}}));
  check_parts(of(ops::concat{.axis = 0}, {{1, 20, 5, 6}, {2, 20, 5, 6}}));
  check_parts(of(ops::pad{.before = {0, 3, 2, -1}, .after = {1, 30, -2, 3}, .value = 0.5f}, {{1, 20, 6, 5}}), 60);
  check_parts(of(ops::pad{.before = {0, 0, 4, 5}, .after = {0, 0, 4, 5}}, {{1, 2, 3, 4}}), 60);  // parts beside the input
  for (const auto mode : {ops::padding::reflect, ops::padding::edge})
    check_parts(of(ops::pad{.before = {0, 0, 0, 2}, .after = {0, 0, 0, 3}, .mode = mode}, {{1, 20, 6, 5}}));
  check_parts(of(ops::resize{.factors = {1, 1, 2, 3}}, {{2, 20, 4, 5}}));
  for (const auto mode : {ops::resizing::nearest, ops::resizing::linear, ops::resizing::cubic})
    for (const auto from : {ops::coordinates::half_pixel, ops::coordinates::align_corners, ops::coordinates::asymmetric}) {
      check_parts(of(ops::resize{.mode = mode, .to = {2, 35, 11, 4}, .scales = {1, 1, 11.0f / 6, 4.0f / 7}, .from = from},
                     {{2, 35, 6, 7}}));
      check_parts(of(ops::resize{.mode = mode, .to = {1, 40, 9}, .scales = {1, 2.5f, 1}, .from = from}, {{1, 16, 9}}));
      check_parts(of(
          ops::resize{
              .mode = mode, .to = {1, 16, 19, 2}, .scales = {1, 1, 19.0f / 14, 2.0f / 7}, .by_sizes = true, .from = from},
          {{1, 16, 14, 7}}));
    }
  check_parts(of(ops::resize{.factors = {1, 3, 1, 2}}, {{2, 20, 4, 5}}));
  for (const auto mode : {ops::resizing::linear, ops::resizing::cubic})
    for (const auto& [axis, to] : {std::pair(1, 20), {2, 5}, {3, 6}}) {
      const shape in{2, 40, 13, 17};
      const auto scale = static_cast<float>(to) / static_cast<float>(in[axis]);
      check_parts(of(ops::antialiased_resize{.axis = axis, .to = to, .mode = mode, .scale = scale}, {in}));
    }
  for (int axis = 0; axis < 4; ++axis) {
    const shape in{2, 40, 9, 5};
    auto any_order = of(ops::gather{.axis = axis, .count = 37}, {in}, {{37}});
    any_order.whole.parameters = {values(37, 3, 0, static_cast<float>(in[axis]))};
    check_parts(any_order);
  }
  auto behind = of(ops::gather{.axis = 4, .count = 7}, {{1, 33, 3, 2, 5}}, {{7}});
  behind.whole.parameters = {{4, 0, 3, 3, 1, 2, 0}};
  check_parts(behind);
  check_parts(of(ops::pad{.before = {0, 0, 2}, .after = {0, 0, 7}, .mode = ops::padding::wrap}, {{1, 40, 5, 6}}));
  check_parts(of(ops::slice{.starts = {0, 39, 1, 0}, .steps = {1, -2, 1, 3}, .extents = {1, 20, 3, 2}}, {{1, 40, 4, 6}}));
  check_parts(of(ops::slice{.starts = {1, 2, 0, 5}, .steps = {1, 1, 2, -1}, .extents = {1, 33, 3, 5}}, {{2, 40, 6, 6}}));
  check_parts(of(ops::transpose{.perm = {0, 2, 3, 1}}, {{1, 5, 18, 6}}));
  check_parts(of(ops::transpose{.perm = {2, 0, 1}}, {{3, 18, 6}}));
  check_parts(of(ops::transpose{.perm = {4, 1, 0, 3, 2}}, {{2, 18, 2, 3, 4}}));
  check_parts(of(ops::flatten{.axis = 1}, {{2, 40, 2, 3}}));
  check_parts(of(ops::flatten{.axis = 1}, {{2, 40}}));
  check_parts(of(ops::reshape{.to = {2, 240}}, {{2, 40, 2, 3}}));
  check_parts(of(ops::reshape{.to = {1, 40, 6}}, {{1, 40, 2, 3}}));
  check_parts(of(ops::reshape{.to = {1, 40}}, {{1, 40, 1, 1}}));
  check_parts(of(ops::reshape{.to = {1, 40, 2, 2}}, {{1, 40, 4}}));
}

TEST(Restrict, Reductions) {
  check_parts(of(ops::global_average_pool{}, {{2, 40, 5, 6}}));
  check_parts(of(ops::global_average_pool{}, {{2, 40, 7}}));
  check_parts(of(ops::reduce{.over = {false, false, true, true}}, {{2, 40, 4, 5}}));
  check_parts(of(ops::reduce{.over = {false, true}, .keep = false, .how = ops::reduction::arg_max}, {{2, 7, 36, 5}}));
  check_parts(of(
      ops::normalization{.how = ops::normalizing::instance, .first = 2, .last = 4, .scale = true, .scale_shape = {40, 1, 1}},
      {{1, 40, 4, 5}}, {{40, 1, 1}}));
  check_parts(of(
      ops::normalization{
          .first = 1, .last = 2, .scale = true, .bias = true, .scale_shape = {7, 1, 1}, .bias_shape = {7, 1, 1}},
      {{1, 7, 9, 5}}, {{7, 1, 1}, {7, 1, 1}}));
  check_parts(
      of(ops::einsum{.of = {{{0, 1, 2, -1}, {0, 1, -1, 3}}}, .rank = 4, .depth = {3, 2}}, {{2, 33, 5, 6}, {2, 33, 6, 7}}));
  for (const int which : {0, 1}) {  // the stack of matrices is the constant, first or second
    const shape a{2, 33, 6}, b{2, 6, 37};
    check_parts(of(ops::einsum{.of = {{{0, 1, -1}, {0, -1, 2}}},
                               .rank = 3,
                               .depth = {2, 1},
                               .which = which == 0 ? ops::constant::first : ops::constant::second,
                               .fixed = which == 0 ? a : b},
                   {which == 0 ? b : a}, {which == 0 ? a : b}));
  }
  check_parts(of(ops::cum_sum{.axis = 2, .exclusive = true}, {{2, 40, 9, 3}}));
  check_parts(of(ops::cum_sum{.axis = 1, .reverse = true}, {{2, 7, 9, 5}}));
  check_parts(of(ops::tile{.repeats = {1, 2, 3, 1}}, {{2, 16, 1, 5}}));
  check_parts(of(ops::depth_to_space{.factors = {2, 3}, .crop = {1, 0}, .to = {6, 13}}, {{1, 96, 4, 5}}));
  check_parts(of(ops::depth_to_space{.factors = {2, 2}, .to = {6, 10}, .groups = 32}, {{1, 128, 3, 5}}));
  check_parts(of(ops::reduce{.over = {false, false, true, true}, .keep = false}, {{2, 48, 4, 5}}));
  check_parts(of(ops::reduce{.over = {false, false, true, false}}, {{2, 40, 9, 3}}));
  check_parts(of(ops::reduce{.over = {false, false, true, false}, .keep = false}, {{2, 48, 9, 1}}));
  check_parts(of(ops::reduce{.over = {false, true, false, false}}, {{2, 9, 4, 5}}));
  check_parts(of(ops::reduce{.over = {false, true, false, false}, .keep = false}, {{2, 7, 36, 5}}));
  check_parts(of(ops::softmax{.first = 1, .last = 2}, {{2, 20, 4, 5}}));
  check_parts(of(ops::softmax{.first = 0, .last = 1}, {{3, 20, 6}}));
  check_parts(of(ops::softmax{.first = 1, .last = 3}, {{2, 20, 4, 5, 2}}));
  check_parts(of(ops::softmax{.first = 3, .last = 4}, {{2, 20, 4, 5}}));
  check_parts(of(ops::lrn{.size = 5}, {{1, 20, 4, 5}}));
}

}  // namespace
