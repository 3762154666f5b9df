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
    out.packed_bytes = form.packed_bytes(), out.scratch_bytes = form.scratch_bytes();
  } else {
    const algorithm::convolution form(p.op, p.in[0], p.result());
    out.packed_bytes = form.packed_bytes(), out.scratch_bytes = form.scratch_bytes();
  }
  return out;
}

void compare_all(const ops::conv& op, const shape& in) {
  auto p = make(op, {in}, {{op.channels, in[1], op.kernel[0], op.kernel[1]}, {op.channels}});
  enum class end { plain, halved, residual };
  for (const auto last : {end::plain, end::halved, end::residual}) {
    p.pools_2x2 = last == end::halved;
    const auto output = p.output();
    if (p.pools_2x2 && (op.kernel[0] != op.kernel[1] || output.elements() == 0)) continue;
    if (last == end::residual) p = with_residual(p);
    const auto expected = expected_of(p, ops::relu{});
    const int sizes = algorithm::winograd::sizes(op, in);
    ASSERT_GT(sizes, 0);
    for (int size = 0; size <= sizes; ++size)
      for (const int threads : {1, 2, 3})
        for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
          p.threads = threads, p.layout = layout;
          // Larger tiles multiply rounding errors by more.
          EXPECT_LE(error(compute<kernels::openmp::backend>(p, ops::relu{}, forced(size, p)), expected),
                    size + algorithm::winograd::min_pairs(op.kernel) > 3 ? 5e-5 : tolerance)
              << in[0] << 'x' << in[1] << 'x' << in[2] << 'x' << in[3] << " to " << op.channels << ", " << op.kernel[0]
              << 'x' << op.kernel[1] << ", size " << size << ", threads " << threads;
        }
    p.threads = 1, p.layout = tensor::layout::plain;
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
