// Winograd's convolution with each tile size, whatever the cost model chooses, and the direct convolution, against the
// reference.
#include "kernels/harness.hpp"

#include <string>

namespace {

using namespace harness;

/// The choice with this number of a tile size for Winograd's algorithm; 0 is the direct convolution.
algorithm::choice forced(int size, const problem<ops::conv>& p) {
  algorithm::choice out{.works = algorithm::form::blocked, .converts = true, .variant = size};
  if (size > 0) {
    const algorithm::winograd form(size, p.op, p.in[0], p.result());
    out.packed_bytes = form.packed_bytes();
    out.scratch_bytes = form.scratch_bytes();
  } else {
    const algorithm::convolution form(p.op, p.in[0], p.result());
    out.packed_bytes = form.packed_bytes();
    out.scratch_bytes = form.scratch_bytes();
  }
  return out;
}

void compare_all(const ops::conv& op, const shape& in, const ending& e = ops::relu{}) {
  auto p = make(op, {in}, {{op.channels, in[1], op.kernel[0], op.kernel[1]}, {op.channels}});
  enum class end { plain, halved, residual };
  for (const auto last : {end::plain, end::halved, end::residual}) {
    p.pools_2x2 = last == end::halved;
    const auto output = p.output();
    if (p.pools_2x2 && (op.kernel[0] != op.kernel[1] || output.elements() == 0)) continue;
    if (last == end::residual) p = with_residual(p);
    const auto expected = expected_of(p, e);
    const int sizes = algorithm::winograd::sizes(op, in);
    ASSERT_GT(sizes, 0);
    for (int size = 0; size <= sizes; ++size)
      for (const int threads : {1, 2, 3})
        for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
          p.threads = threads;
          p.layout = layout;
          // Larger tiles multiply rounding errors by more.
          EXPECT_LE(error(compute<kernels::openmp::backend>(p, e, forced(size, p)), expected),
                    size + algorithm::winograd::min_pairs(op.kernel) > 3 ? 5e-5 : tolerance)
              << in[0] << 'x' << in[1] << 'x' << in[2] << 'x' << in[3] << " to " << op.channels << ", " << op.kernel[0]
              << 'x' << op.kernel[1] << ", size " << size << ", threads " << threads;
        }
    p.threads = 1;
    p.layout = tensor::layout::plain;
  }
}

TEST(winograd, equals_the_reference) {
  ops::conv op{.channels = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  for (const auto& size : {shape{1, 1}, {2, 3}, {4, 4}, {5, 13}, {14, 14}, {7, 40}, {33, 66}})
    compare_all(op, {1, 16, size[0], size[1]});
  op.channels = 37;  // part of a panel, part of a vector
  compare_all(op, {2, 21, 9, 11});
  op.channels = 70;
  compare_all(op, {1, 64, 20, 6});
  op.pads = {0, 0, 0, 0};
  compare_all(op, {1, 16, 12, 18});
  op.pads = {0, 2, 3, 1};
  op.bias = false;
  compare_all(op, {1, 17, 12, 18});
}

// Activations that registers do not finish are applied to the output, for some channels after the other; one of two slopes.
TEST(winograd, activations) {
  const ops::conv op{.channels = 21, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  compare_all(op, {1, 18, 9, 11}, ops::sigmoid{});
  compare_all(op, {1, 18, 9, 11}, ops::leaky_relu{.alpha = 0.2f});
}

// NaN reaches all results that it reaches in the reference, and others only in the tiles of these.
TEST(winograd, not_a_number) {
  const ops::conv op{.channels = 21, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  auto p = make(op, {{1, 18, 9, 30}}, {{21, 18, 3, 3}, {21}});
  p.inputs[0][4 * 30 + 17] = std::numeric_limits<float>::quiet_NaN();
  for (const bool pools_2x2 : {false, true}) {
    p.pools_2x2 = pools_2x2;
    const auto expected = expected_of(p, ops::relu{});
    for (int size = 1; size <= 3; ++size) {
      const auto found = compute<kernels::openmp::backend>(p, ops::relu{}, forced(size, p));
      const auto columns = static_cast<std::size_t>(p.output()[3]), far = columns / 3;
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(std::isnan(found[i]) || !std::isnan(expected[i])) << i;
        ASSERT_FALSE(std::isnan(found[i]) && i % columns < far) << i;
      }
    }
  }
}

/// What a number changes that is far out of range, in results whose windows do not contain it: nothing by sums of products
/// and by tiles of two results; by larger tiles only results of its tiles, by a rounding error of the number if it is
/// finite.
void compare_hot(const ops::conv& op, float hot, std::int64_t y, std::int64_t x) {
  const shape in{1, 16, 15, 17};
  const auto p = make(op, {in}, {{op.channels, in[1], op.kernel[0], op.kernel[1]}});
  const auto result = p.result();
  auto with = p;
  with.inputs[0][(5 * in[2] + y) * in[3] + x] = hot;
  const auto expected = expected_of(with, {});
  for (int size = 0; size <= algorithm::winograd::sizes(op, in); ++size) {
    SCOPED_TRACE(testing::Message() << op.kernel[0] << 'x' << op.kernel[1] << ", size " << size << ", " << hot << " at " << y
                                    << ", " << x);
    const auto clean = compute<kernels::openmp::backend>(p, {}, forced(size, p)),
               found = compute<kernels::openmp::backend>(with, {}, forced(size, p));
    if (size == 0) {
      EXPECT_LE(error(found, expected), tolerance);
    }
    algorithm::winograd::axis axes[2];
    if (size > 0) {
      axes[0] = algorithm::winograd(size, op, in, result).y;
      axes[1] = algorithm::winograd(size, op, in, result).x;
    }
    const auto is_near = [&](int axis, std::int64_t from, std::int64_t inputs, std::int64_t at) {
      return from - op.pads[axis] <= at && at < from - op.pads[axis] + inputs;
    };
    const auto in_tile = [&](int axis, std::int64_t of, std::int64_t at) {
      const auto& a = axes[axis];
      return a.outputs == 1 ? is_near(axis, of, op.kernel[axis], at)
                            : is_near(axis, of / a.outputs * a.outputs, a.inputs, at);
    };
    const bool mixes = std::max(axes[0].outputs, axes[1].outputs) > 2;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / result[3] % result[2],
                 column = static_cast<std::int64_t>(i) % result[3];
      if (is_near(0, row, op.kernel[0], y) && is_near(1, column, op.kernel[1], x)) {
        ASSERT_EQ(std::isfinite(found[i]), std::isfinite(hot)) << row << ", " << column;
      } else if (!mixes || !in_tile(0, row, y) || !in_tile(1, column, x)) {
        ASSERT_EQ(found[i], clean[i]) << row << ", " << column;
      } else if (std::isfinite(hot)) {
        ASSERT_LE(std::abs(found[i] - clean[i]), 5e-5 * hot) << row << ", " << column;
      }
    }
  }
}

TEST(winograd, numbers_that_are_far_out_of_range) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [h, w] : {std::array{3, 3}, {5, 5}, {1, 7}, {7, 1}, {1, 3}, {3, 1}}) {
    const ops::conv op{.channels = 21, .kernel = {h, w}, .pads = {h / 2, w / 2, h / 2, w / 2}};
    for (const float hot : {1e20f, -infinity, std::numeric_limits<float>::quiet_NaN()})
      for (const auto& [y, x] : {std::array<std::int64_t, 2>{8, 9}, {13, 0}}) compare_hot(op, hot, y, x);
  }
}

// One more block of tiles than fits, in both directions.
TEST(winograd, blocks) {
  const ops::conv op{.channels = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  const shape in{1, 16, 61, 175}, result = graph::infer(op, {&in, 1});
  const algorithm::winograd form(3, op, in, result);
  ASSERT_LT(form.block_columns, form.columns);
  ASSERT_LT(form.block_rows, form.rows);
  compare_all(op, in);
}

// Windows other than 3x3, along one axis or both.
TEST(winograd, windows) {
  for (const auto& [h, w] : {std::array{5, 5}, {1, 7}, {7, 1}, {1, 3}, {3, 1}}) {
    const ops::conv op{.channels = 37, .kernel = {h, w}, .pads = {h / 2, w / 2, h / 2, w / 2}, .bias = true};
    for (const auto& size : {shape{1, 1}, {2, 9}, {17, 17}, {40, 7}}) compare_all(op, {1, 21, size[0], size[1]});
    ops::conv inside = op;
    inside.pads = {};
    compare_all(inside, {2, 16, 12, 11});
  }
}

}  // namespace
