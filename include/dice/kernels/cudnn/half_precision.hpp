// Convolutions and products in 16-bit numbers, for devices that allow it: precision<fp16>, precision<bf16>. Tensors stay
// float32 in memory, and so do all sums; inputs, weights and the sums of convolutions are rounded.
#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"
#include "dice/kernels/cudnn/detail/window.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

namespace dice::kernels::cudnn {

/// The numbers that variant `variant` of a convolution or product computes in (algorithm::chooser).
constexpr bool is_half(int variant) { return variant > 0; }
constexpr bool is_bf16(int variant) { return variant == static_cast<int>(platform::numbers::bf16); }

/// The bits of x as a 16-bit number.
inline std::uint16_t halved(float x, bool as_bf16) {
  std::uint16_t bits = 0;
  if (as_bf16) {
    const __nv_bfloat16 y = __float2bfloat16(x);
    std::memcpy(&bits, &y, sizeof bits);
  } else {
    const __half y = __float2half_rn(x);
    std::memcpy(&bits, &y, sizeof bits);
  }
  return bits;
}

inline void prepare_half(const ops::conv& op, const algorithm::half_convolution& form, std::int64_t channels, bool bf16,
                         floats from, std::byte* to) {
  std::memset(to, 0, static_cast<std::size_t>(form.packed_bytes()));
  auto* const weights = reinterpret_cast<std::uint16_t*>(to);
  for (std::int64_t k = 0; k < op.channels; ++k)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t t = 0; t < form.taps; ++t)
        weights[(k * form.taps + t) * form.channels + c] = halved(from[0][(k * channels + c) * form.taps + t], bf16);
  if (op.bias) std::copy_n(from[1], op.channels, reinterpret_cast<float*>(weights + form.weight_elements()));
}

inline void convolve_half(const ops::conv& op, const tensor::shape& in, const tensor::shape& result, const call& c,
                          const ending& e) {
  const bool bf16 = is_bf16(c.how.variant);
  const algorithm::half_convolution form(op, in, result);
  const workspace all(c.scratch, c.how.scratch_bytes);
  auto* const x = reinterpret_cast<unsigned short*>(all.at);
  auto* const y = reinterpret_cast<unsigned short*>(all.at + form.input_bytes());
  const auto used = form.input_bytes() + form.output_bytes();
  const int images = count(form.images);
  current->start(narrow{x, c.inputs[0], images, count(in[1]), count(form.channels), count(form.in_pixels), bf16});

  convolution wanted;
  wanted.x = image_of(in);
  wanted.y = image_of(result);
  wanted.x[1] = form.channels;
  wanted.y[1] = form.out_channels;
  wanted.w = {form.out_channels, form.channels, op.kernel[0], op.kernel[1]};
  wanted.strides = op.strides;
  wanted.dilations = op.dilations;
  wanted.pads = op.pads;
  wanted.channels_last = true;
  wanted.type = bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
  const operands at{.x = x, .w = c.packed, .y = y, .workspace = all.at + used, .room = all.bytes - used};
  if (!current->convolutions.run(wanted, at)) current->convolutions.refuse(wanted, at.room);
  const auto* const bias = reinterpret_cast<const float*>(c.packed + 2 * form.weight_elements());
  current->start(widen{c.output, y, op.bias ? bias : nullptr, images, count(op.channels), count(form.out_channels),
                       count(form.out_pixels), bf16, e});
}

/// Where the bias of a product lies behind its weights, in bytes.
template <class Op> std::int64_t bias_at(const Op& op) { return (2 * op.columns * op.depth + 3) / 4 * 4; }

template <class Op> void prepare_half(const Op& op, bool bf16, floats from, std::byte* to) {
  std::transform(from[0], from[0] + op.columns * op.depth, reinterpret_cast<std::uint16_t*>(to),
                 [&](float x) { return halved(x, bf16); });
  if (op.bias) std::copy_n(from[1], op.columns, reinterpret_cast<float*>(to + bias_at(op)));
}
template <class Op> void multiply_half(const Op& op, const tensor::shape& result, const call& c, const ending& e) {
  const float* bias = op.bias ? reinterpret_cast<const float*>(c.packed + bias_at(op)) : nullptr;
  current->start(half_matrix{c.output, c.inputs[0], reinterpret_cast<const unsigned short*>(c.packed), bias,
                             count(result.elements() / op.columns), count(op.columns), count(op.depth),
                             is_bf16(c.how.variant), e});
}

}  // namespace dice::kernels::cudnn
