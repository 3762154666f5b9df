#pragma once

#include "dice/kernels/openmp/convolutions.hpp"
#include "dice/kernels/openmp/detail/base.hpp"
#include "dice/kernels/openmp/detail/direct.hpp"
#include "dice/kernels/openmp/detail/winograd.hpp"

#include <cstddef>

namespace dice::kernels {

/// Convolutions of one kind.
template <openmp::direct_kind Kind, int Height, int Width>
struct kernel<openmp::backend, openmp::convolutions<Kind, Height, Width>> : openmp::base<ops::conv> {
  static constexpr bool winograd = Height > 0;

  /// `variant`: the size of Winograd's algorithm (algorithm::winograd), 0 for the direct convolution.
  static void prepare(const ops::conv& op, graph::shapes in, const tensor::shape& result, int variant, floats from,
                      std::byte* to) {
    if constexpr (winograd)
      if (variant > 0)
        return openmp::transform_weights<Height, Width>({variant, op, in[0], result}, from, op.bias,
                                                        reinterpret_cast<float*>(to));
    openmp::prepare_direct(op, {op, in[0], result}, from, reinterpret_cast<float*>(to));
  }
  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    if constexpr (winograd)
      if (const int variant = c.how.variant; variant > 0)
        return openmp::convolve_winograd<Height, Width>({variant, op, in[0], result}, c, e);
    algorithm::convolution f(op, in[0], result);
    auto w = openmp::window_of(c, e, f.y.out, f.x.out);
    if (c.part && f.is_flat(result)) {
      if (w.columns() < result[3]) f.unfold(result);
      else w = {0, 1, w.top * result[3], w.bottom * result[3]};
    }
    if constexpr (Kind == openmp::direct_kind::depthwise) openmp::convolve_depthwise(f, w, c, e);
    else openmp::convolve<Kind == openmp::direct_kind::plain ? 1 : openmp::block>(f, w, c, e);
  }
};

}  // namespace dice::kernels
