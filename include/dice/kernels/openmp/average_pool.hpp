#pragma once

#include "dice/kernels/detail/arithmetic.hpp"
#include "dice/kernels/openmp/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::average_pool> : host::base<ops::average_pool> {
  static void compute(const ops::average_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const host::pool_form form(op, in[0], result);
    // Where windows count: the input, or the padded input.
    const bool all = op.count_include_pad;
    const auto top = all ? -form.pad[0] : 0, left = all ? -form.pad[1] : 0;
    const auto bottom = form.height + (all ? form.pad[2] : 0), right = form.width + (all ? form.pad[3] : 0);
    host::pool<detail::plus>(form, in[0][0] * in[0][1], c.inputs[0], c.output, 0,
                             [&](float* y, std::int64_t row, std::int64_t first, std::int64_t n) {
                               const auto rows = form.taps(0, row % form.out_height, top, bottom);
                               for (std::int64_t x = 0; x < n; ++x) {
                                 const auto at = (first + x) * form.stride[1] - form.pad[1];
                                 const bool inside = at >= left && at + (form.kernel[1] - 1) * form.dilation[1] < right;
                                 const auto count = rows * (inside ? form.kernel[1] : form.taps(1, first + x, left, right));
                                 y[x] = count ? y[x] / static_cast<float>(count) : 0;
                               }
                             });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
