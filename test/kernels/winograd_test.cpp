// Winograd's convolution: each size of tile, whatever the cost says, and the direct one beside it, against the reference.
#include "kernels/harness.hpp"

#include <string>

namespace {

using namespace harness;

/// The algorithm with that many pairs of points, 0 being the direct one.
cost::algorithm forced(int pairs, const problem<ops::conv>& p) {
  cost::algorithm out{.works = cost::form::blocked, .converts = true, .variant = pairs};
  if (pairs > 0) {
    const cost::winograd form(pairs, p.op, p.in[0], p.result());
    out.packed_bytes = form.packed_bytes(), out.scratch_bytes = form.scratch_bytes();
  } else {
    const cost::convolution form(p.op, p.in[0], p.result());
    out.packed_bytes = form.packed_bytes(), out.scratch_bytes = form.scratch_bytes();
  }
  return out;
}

void compare_all(const ops::conv& op, const shape& in) {
  auto p = make(op, {in}, {{op.channels, in[1], 3, 3}, {op.channels}});
  for (const bool residual : {false, true}) {
    if (residual) p = with_residual(p);
    const auto expected = compute<kernels::reference>(p, ops::relu{});
    for (int pairs = 0; pairs <= 3; ++pairs)
      for (const int threads : {1, 2, 3})
        for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
          p.threads = threads, p.layout = layout;
          // Larger tiles multiply rounding errors by more.
          EXPECT_LE(error(compute<kernels::openmp>(p, ops::relu{}, forced(pairs, p)), expected),
                    pairs == 3 ? 5e-5 : tolerance)
              << in[0] << 'x' << in[1] << 'x' << in[2] << 'x' << in[3] << " to " << op.channels << ", pairs " << pairs
              << ", threads " << threads;
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

// One more block of tiles than fits, in both directions.
TEST(winograd, blocks) {
  const ops::conv op{.channels = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
  const shape in{1, 16, 61, 175}, result = graph::infer(op, {&in, 1});
  const cost::winograd form(3, op, in, result);
  ASSERT_LT(form.block_columns, form.columns);
  ASSERT_LT(form.block_rows, form.rows);
  compare_all(op, in);
}

}  // namespace
