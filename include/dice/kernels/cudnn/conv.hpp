// Convolution: dice's own kernel if each channel has its own filter, else cuDNN, in float32 or in 16 bits.
#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"
#include "dice/kernels/cudnn/detail/window.hpp"
#include "dice/kernels/cudnn/half_precision.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::conv> : cudnn::base<ops::conv> {
  static void prepare(const ops::conv& op, graph::shapes in, const tensor::shape& result, int variant, floats from,
                      std::byte* to) {
    cudnn::prepare_half(op, {op, in[0], result}, in[0][1], cudnn::is_bf16(variant), from, to);
  }
  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    if (cudnn::is_half(c.how.variant)) return cudnn::convolve_half(op, in[0], result, c, e);
    algorithm::is_depthwise(op, in[0]) ? by_channel(op, in[0], result, c, e) : by_cudnn(op, in[0], result, c, e);
  }

 private:
  static void by_channel(const ops::conv& op, const tensor::shape& in, const tensor::shape& result, const call& c,
                         const cudnn::ending& e) {
    using cudnn::count;
    const auto x = cudnn::image_of(in), y = cudnn::image_of(result);
    cudnn::current->start(cudnn::depthwise{c.output,
                                           c.inputs[0],
                                           c.parameters[0],
                                           op.bias ? c.parameters[1] : nullptr,
                                           count(x[0]),
                                           count(x[1]),
                                           count(x[2]),
                                           count(x[3]),
                                           count(y[2]),
                                           count(y[3]),
                                           {op.kernel[0], op.kernel[1]},
                                           {op.strides[0], op.strides[1]},
                                           {op.dilations[0], op.dilations[1]},
                                           {op.pads[0], op.pads[1]},
                                           e});
  }

  /// cuDNN also computes as much of what follows the convolution as it has engines for; a kernel of dice's own does the
  /// rest.
  static void by_cudnn(const ops::conv& op, const tensor::shape& in, const tensor::shape& result, const call& c,
                       const cudnn::ending& e) {
    cudnn::convolution wanted;
    wanted.x = cudnn::image_of(in);
    wanted.y = cudnn::image_of(result);
    wanted.w = {op.channels, in[1] / op.group, op.kernel[0], op.kernel[1]};
    wanted.strides = op.strides;
    wanted.dilations = op.dilations;
    wanted.pads = op.pads;
    const cudnn::workspace work(c.scratch, c.how.scratch_bytes);
    cudnn::operands at{.x = c.inputs[0], .w = c.parameters[0], .y = c.output, .workspace = work.at, .room = work.bytes};
    wanted.bias = op.bias;
    wanted.residual = e.residual;
    wanted.relu = e.f == cudnn::function::relu;
    at.bias = op.bias ? c.parameters[1] : nullptr;
    at.residual = e.residual;
    wanted.alignment = alignment_of({at.x, at.w, at.y, at.bias, at.residual});
    auto rest = e;
    if (wanted.relu) rest.f = cudnn::function::none;
    rest.residual = nullptr;
    if (cudnn::current->convolutions.run(wanted, at)) return cudnn::finish(c.output, result.elements(), rest);

    wanted.bias = wanted.residual = wanted.relu = false;
    at.bias = at.residual = nullptr;
    if (!cudnn::current->convolutions.run(wanted, at)) cudnn::current->convolutions.refuse(wanted, at.room);
    if (op.bias || e.residual || e.f != cudnn::function::none)
      cudnn::current->start(cudnn::elements{c.output, c.output, cudnn::count(result.elements()), nullptr,
                                            op.bias ? c.parameters[1] : nullptr, cudnn::count(wanted.y[1]),
                                            cudnn::count(wanted.y[2] * wanted.y[3]), e});
  }

  /// The largest power of two, up to 16, to which all pointers are aligned: views may begin at any element.
  static int alignment_of(std::initializer_list<const void*> pointers) {
    int out = 16;
    for (const auto* p : pointers)
      while (reinterpret_cast<std::uintptr_t>(p) % static_cast<unsigned>(out)) out /= 2;
    return out;
  }
};

}  // namespace dice::kernels
