// Convolutions and products in 16-bit numbers, for devices that allow it: precision<fp16>, precision<bf16>. Tensors stay
// float32 in memory, and so do all sums; inputs, weights and the sums of convolutions are rounded.
#pragma once

#include "dice/kernels/cudnn/conv.hpp"
#include "dice/kernels/cudnn/gemm.hpp"
#include "dice/kernels/cudnn/mat_mul.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dice::kernels {
namespace cudnn {

template <class Backend> inline constexpr bool is_bf16 = std::is_same_v<Backend, cudnn::bf16>;

/// The bits of x as a 16-bit number.
template <class Backend> std::uint16_t halved(float x) {
  std::uint16_t bits = 0;
  if constexpr (is_bf16<Backend>) {
    const __nv_bfloat16 y = __float2bfloat16(x);
    std::memcpy(&bits, &y, sizeof bits);
  } else {
    const __half y = __float2half_rn(x);
    std::memcpy(&bits, &y, sizeof bits);
  }
  return bits;
}

/// Backend is cudnn_fp16 or cudnn_bf16.
template <class Backend> struct half_conv : base<ops::conv> {
  static void prepare(const ops::conv& op, graph::shapes in, const tensor::shape& result, int, floats from, std::byte* to) {
    const algorithm::half_convolution form(op, in[0], result);
    const auto channels = in[0][1];
    std::memset(to, 0, static_cast<std::size_t>(form.packed_bytes()));
    auto* const weights = reinterpret_cast<std::uint16_t*>(to);
    for (std::int64_t k = 0; k < op.channels; ++k)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t t = 0; t < form.taps; ++t)
          weights[(k * form.taps + t) * form.channels + c] = halved<Backend>(from[0][(k * channels + c) * form.taps + t]);
    if (op.bias) std::copy_n(from[1], op.channels, reinterpret_cast<float*>(weights + form.weight_elements()));
  }

  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c, const ending& e) {
    if (!algorithm::half_convolution::serves(op)) return kernel<cudnn::backend, ops::conv>::compute(op, in, result, c, e);
    const algorithm::half_convolution form(op, in[0], result);
    const workspace all(c.scratch, c.how.scratch_bytes);
    auto* const x = reinterpret_cast<unsigned short*>(all.at);
    auto* const y = reinterpret_cast<unsigned short*>(all.at + form.input_bytes());
    const auto used = form.input_bytes() + form.output_bytes();
    const int images = count(form.images);
    current->start(
        narrow{x, c.inputs[0], images, count(in[0][1]), count(form.channels), count(form.in_pixels), is_bf16<Backend>});

    convolution wanted;
    wanted.x = image_of(in[0]), wanted.y = image_of(result);
    wanted.x[1] = form.channels, wanted.y[1] = form.out_channels;
    wanted.w = {form.out_channels, form.channels, op.kernel[0], op.kernel[1]};
    wanted.strides = op.strides, wanted.dilations = op.dilations, wanted.pads = op.pads;
    wanted.channels_last = true;
    wanted.type = is_bf16<Backend> ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
    const operands at{.x = x, .w = c.packed, .y = y, .workspace = all.at + used, .room = all.bytes - used};
    if (!current->convolutions.run(wanted, at)) current->convolutions.refuse(wanted, at.room);
    const auto* const bias = reinterpret_cast<const float*>(c.packed + 2 * form.weight_elements());
    current->start(widen{c.output, y, op.bias ? bias : nullptr, images, count(op.channels), count(form.out_channels),
                         count(form.out_pixels), is_bf16<Backend>, e});
  }
};

template <class Backend, class Op> struct half_product : base<Op> {
  static void prepare(const Op& op, graph::shapes, const tensor::shape&, int, floats from, std::byte* to) {
    std::transform(from[0], from[0] + op.columns * op.depth, reinterpret_cast<std::uint16_t*>(to), halved<Backend>);
    if (op.bias) std::copy_n(from[1], op.columns, reinterpret_cast<float*>(to + bias_at(op)));
  }
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const ending& e) {
    const float* bias = op.bias ? reinterpret_cast<const float*>(c.packed + bias_at(op)) : nullptr;
    current->start(half_matrix{c.output, c.inputs[0], reinterpret_cast<const unsigned short*>(c.packed), bias,
                               count(result.elements() / op.columns), count(op.columns), count(op.depth), is_bf16<Backend>,
                               e});
  }

 private:
  static std::int64_t bias_at(const Op& op) { return (2 * op.columns * op.depth + 3) / 4 * 4; }
};

}  // namespace cudnn

template <> struct kernel<cudnn::fp16, ops::conv> : cudnn::half_conv<cudnn::fp16> {};
template <> struct kernel<cudnn::bf16, ops::conv> : cudnn::half_conv<cudnn::bf16> {};
template <> struct kernel<cudnn::fp16, ops::gemm> : cudnn::half_product<cudnn::fp16, ops::gemm> {};
template <> struct kernel<cudnn::bf16, ops::gemm> : cudnn::half_product<cudnn::bf16, ops::gemm> {};
template <> struct kernel<cudnn::fp16, ops::mat_mul> : cudnn::half_product<cudnn::fp16, ops::mat_mul> {};
template <> struct kernel<cudnn::bf16, ops::mat_mul> : cudnn::half_product<cudnn::bf16, ops::mat_mul> {};

}  // namespace dice::kernels
