// Winograd's convolution: each size of tile, whatever the cost says, and the direct one beside it, against the reference.
#include "kernels/harness.hpp"

#include <string>

namespace {

using namespace harness;
using kernel = kernels::kernel<kernels::openmp, ops::conv>;

/// What the algorithm with that many pairs of points computes, 0 being the direct one, followed by ReLU.
std::vector<float> forced(int pairs, const problem<ops::conv>& p, int threads) {
  omp_set_num_threads(threads);
  const shape result = p.result();
  const cost::winograd form(std::max(pairs, 1), p.op, p.in[0], result);
  const cost::convolution direct(p.op, p.in[0], result);
  buffer packed(pairs ? form.packed_bytes() : direct.packed_bytes()),
      scratch(pairs ? form.scratch_bytes() : direct.scratch_bytes()), input(p.inputs[0]), residual(p.residual);
  buffer weights(p.parameters[0]), bias(p.parameters[1]), output(result.bytes());
  const float *inputs[] = {input.floats()}, *parameters[] = {weights.floats(), bias.floats()};
  const kernels::call c{.inputs = inputs,
                        .output = output.floats(),
                        .parameters = nullptr,
                        .packed = packed.data(),
                        .scratch = scratch.data()};
  const ops::relu relu;
  const kernels::detail::epilogue e{.output = c.output,
                                    .residual = p.residual.empty() ? nullptr : residual.floats(),
                                    .activation = &relu,
                                    .write = kernel::write<ops::relu>};
  if (pairs > 0) {
    kernels::host::transform_weights(form, parameters, p.op.bias, reinterpret_cast<float*>(packed.data()));
    kernels::host::convolve(form, c, e);
  } else {
    kernel::prepare_direct(p.op, p.in, result, parameters, packed.data());
    kernel::compute_direct(p.op, p.in, result, c, e);
  }
  return {c.output, c.output + result.elements()};
}

void compare_all(const ops::conv& op, const shape& in) {
  auto p = make(op, {in}, {{op.channels, in[1], 3, 3}, {op.channels}});
  for (const bool residual : {false, true}) {
    if (residual) p = with_residual(p);
    const auto expected = compute<kernels::reference>(p, ops::relu{});
    for (int pairs = 0; pairs <= 3; ++pairs)
      for (const int threads : {1, 2, 3})
        // Larger tiles multiply rounding errors by more.
        EXPECT_LE(error(forced(pairs, p, threads), expected), pairs == 3 ? 5e-5 : tolerance)
            << in[0] << 'x' << in[1] << 'x' << in[2] << 'x' << in[3] << " to " << op.channels << ", pairs " << pairs
            << ", threads " << threads;
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
