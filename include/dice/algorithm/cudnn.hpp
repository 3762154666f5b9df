#pragma once

#include "dice/algorithm/chooser.hpp"
#include "dice/graph/graph.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace dice::algorithm {

/// The cuDNN backend: kernels on plain float32 tensors. Working memory is a limit, within which engines are chosen when a
/// program starts; the float32 engines of today's GPUs for plain tensors take little of it (docs/gpu.md).
struct cudnn_workspace {
  static constexpr std::int64_t most = std::int64_t{64} << 20;  ///< bytes
  static constexpr std::int64_t alignment = 256;                ///< of its start; there is room to move it there

  /// Enough for the transformed weights, input and output of a Winograd convolution with tiles of 4 × 4 results, or for a
  /// copy of all tensors in another layout.
  static constexpr std::int64_t of(const ops::conv& op, const tensor::shape& in, const tensor::shape& result) {
    const auto weights = op.channels * (in[1] / op.group) * op.kernel[0] * op.kernel[1];
    return limited(4 * (weights + in.elements() + result.elements()) * tensor::float_bytes);
  }
  /// For partial sums of each of rows × columns products.
  static constexpr std::int64_t of(std::int64_t rows, std::int64_t columns) {
    return limited(32 * rows * columns * tensor::float_bytes);
  }

 private:
  static constexpr std::int64_t limited(std::int64_t bytes) { return std::min(most, (bytes + 255) / 256 * 256) + alignment; }
};

/// Whether each output channel reads only the input channel of its number; dice's own kernel computes these.
constexpr bool is_depthwise(const ops::conv& op, const tensor::shape& in) {
  return op.group == in[1] && op.channels == in[1] && op.group > 1;
}

/// How the cuDNN backend computes `op`: on the plain weights, and without scratch where no overload says otherwise.
template <class Op> constexpr choice choose_cudnn(const Op&, graph::shapes in, const tensor::shape& result) {
  const auto small = [](const tensor::shape& s) { return s.elements() <= std::int64_t{1} << 30; };
  graph::require(small(result) && std::all_of(in.begin(), in.end(), small),
                 "a GPU rank takes tensors of at most 2^30 elements");
  return {.converts = true};
}

constexpr choice choose_cudnn(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  auto out = choose_cudnn<ops::conv>(op, in, result);
  if (!is_depthwise(op, in[0])) out.scratch_bytes = cudnn_workspace::of(op, in[0], result);
  return out;
}
template <class Op>
requires std::same_as<Op, ops::gemm> || std::same_as<Op, ops::mat_mul>
constexpr choice choose_cudnn(const Op& op, graph::shapes, const tensor::shape& result) {
  return {.scratch_bytes = cudnn_workspace::of(result.elements() / op.columns, op.columns), .converts = true};
}

/// A convolution in numbers of 16 bits: tensors have their channels last, padded to a multiple of eight, as tensor cores
/// require. It reads a copy of its input in the scratch, and writes its sums there.
struct half_convolution {
  std::int64_t images, channels, out_channels, in_pixels, out_pixels, taps;

  constexpr half_convolution(const ops::conv& op, const tensor::shape& in, const tensor::shape& result)
      : images(in[0]),
        channels(padded(in[1])),
        out_channels(padded(op.channels)),
        in_pixels(in.product(2, in.rank)),
        out_pixels(result.product(2, result.rank)),
        taps(std::int64_t{op.kernel[0]} * op.kernel[1]) {}

  /// Each group would have to be padded, so convolutions with groups are computed as choose_cudnn says.
  static constexpr bool serves(const ops::conv& op) { return op.group == 1; }
  static constexpr std::int64_t padded(std::int64_t n) { return (n + 7) / 8 * 8; }
  static constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

  constexpr std::int64_t weight_elements() const { return out_channels * taps * channels; }
  constexpr std::int64_t input_bytes() const { return aligned(2 * images * in_pixels * channels); }
  constexpr std::int64_t output_bytes() const { return aligned(2 * images * out_pixels * out_channels); }
  /// (output channel, tap, input channel) in 16 bits, then the bias in 32.
  constexpr std::int64_t packed_bytes() const { return 2 * weight_elements() + 4 * out_channels; }
};

/// How it computes `op` in numbers of 16 bits: convolutions without groups and products, all else as choose_cudnn says.
template <class Op> constexpr choice choose_half(const Op& op, graph::shapes in, const tensor::shape& result) {
  return choose_cudnn(op, in, result);
}
constexpr choice choose_half(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  auto out = choose_cudnn(op, in, result);
  if (!half_convolution::serves(op)) return out;
  const half_convolution form(op, in[0], result);
  constexpr std::int64_t most = std::int64_t{2} << 30;  // bytes
  graph::require(form.input_bytes() <= most && form.output_bytes() <= most,
                 "a GPU rank takes tensors of at most 2^30 elements, in 16 bits with padded channels");
  out.packed_bytes = form.packed_bytes();
  out.scratch_bytes += cudnn_workspace::alignment + form.input_bytes() + form.output_bytes();
  return out;
}
/// Weights in 16 bits, then the bias in 32; W's rows are not padded, which would cost more than it gains.
template <class Op>
requires std::same_as<Op, ops::gemm> || std::same_as<Op, ops::mat_mul>
constexpr choice choose_half(const Op& op, graph::shapes, const tensor::shape&) {
  return {.packed_bytes = (2 * op.columns * op.depth + 3) / 4 * 4 + 4 * op.columns, .converts = true};
}

template <> struct chooser<backend::cudnn> {
  /// With packed weights, the variant is the number of `numbers`, of 16 bits.
  template <class Op>
  static constexpr choice choose(const Op& op, graph::shapes in, const tensor::shape& result, platform::numbers numbers) {
    if (numbers == platform::numbers::float32) return choose_cudnn(op, in, result);
    auto out = choose_half(op, in, result);
    if (out.packed_bytes > 0) out.variant = static_cast<int>(numbers);
    return out;
  }
  /// Without working memory for engines.
  template <class Op>
  static constexpr choice smallest(const Op& op, graph::shapes in, const tensor::shape& result, platform::numbers numbers) {
    auto out = choose(op, in, result, numbers);
    const auto workspace = choose_cudnn(op, in, result).scratch_bytes;
    out.scratch_bytes = std::max<std::int64_t>(0, out.scratch_bytes - workspace);
    return out;
  }
};

}  // namespace dice::algorithm
