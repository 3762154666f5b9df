#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/model/model.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace dice::cost {

/// The cuDNN backend: kernels on plain float32 tensors. Working memory is a limit, within which engines are chosen when a
/// program starts; the float32 engines of today's GPUs for plain tensors take little of it (docs/gpu.md).
struct cudnn_workspace {
  static constexpr std::int64_t most = std::int64_t{64} << 20;  ///< bytes

  /// Enough for the transformed weights, input and output of a Winograd convolution with tiles of 4 × 4 results, or for a
  /// copy of all tensors in another layout.
  static constexpr std::int64_t of(const ops::conv& op, const tensor::shape& in, const tensor::shape& result) {
    const auto weights = op.channels * (in[1] / op.group) * op.kernel[0] * op.kernel[1];
    return limited(4 * (weights + in.elements() + result.elements()) * tensor::element_bytes);
  }
  /// For sums of parts of each of rows × columns products.
  static constexpr std::int64_t of(std::int64_t rows, std::int64_t columns) {
    return limited(32 * rows * columns * tensor::element_bytes);
  }

 private:
  static constexpr std::int64_t limited(std::int64_t bytes) { return std::min(most, (bytes + 255) / 256 * 256); }
};

/// Whether each output channel reads the one input channel of its number: dice's own kernel.
constexpr bool is_depthwise(const ops::conv& op, const tensor::shape& in) {
  return op.group == in[1] && op.channels == in[1] && op.group > 1;
}

/// How the cuDNN backend computes `op`: on the plain weights, and without scratch where no overload says otherwise.
template <class Op> constexpr algorithm choose_cudnn(const Op&, graph::shapes in, const tensor::shape& result) {
  const auto small = [](const tensor::shape& s) { return s.elements() <= std::int64_t{1} << 30; };
  graph::require(small(result) && std::all_of(in.begin(), in.end(), small),
                 "a GPU rank takes tensors of at most 2^30 elements");
  return {.converts = in.size() <= most_converted};
}

constexpr algorithm choose_cudnn(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  auto out = choose_cudnn<ops::conv>(op, in, result);
  if (!is_depthwise(op, in[0])) out.scratch_bytes = cudnn_workspace::of(op, in[0], result);
  return out;
}
template <class Op>
requires std::same_as<Op, ops::gemm> || std::same_as<Op, ops::mat_mul>
constexpr algorithm choose_cudnn(const Op& op, graph::shapes, const tensor::shape& result) {
  return {.scratch_bytes = cudnn_workspace::of(result.elements() / op.columns, op.columns), .converts = true};
}

/// The same without working memory, for devices that have none to spare.
template <class Op> constexpr algorithm smallest_cudnn(const Op& op, graph::shapes in, const tensor::shape& result) {
  auto out = choose_cudnn(op, in, result);
  out.scratch_bytes = 0;
  return out;
}

}  // namespace dice::cost
