#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

#include <cmath>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::normalization> : reference::base<ops::normalization> {
  static void compute(const ops::normalization& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using ops::normalizing;
    const auto outer = in[0].product(0, op.first), size = in[0].product(op.first, op.last);
    const auto inner = in[0].product(op.last, in[0].rank);
    const auto n = static_cast<double>(size);
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t j = 0; j < inner; ++j) {
        const auto at = [&](std::int64_t i) { return (o * size + i) * inner + j; };
        double mean = 0, total = 0;
        for (std::int64_t i = 0; op.centres() && i < size; ++i) mean += c.inputs[0][at(i)] / n;
        for (std::int64_t i = 0; i < size; ++i) {
          const double x = c.inputs[0][at(i)] - mean;
          total += op.how == normalizing::l1 ? std::abs(x) : x * x;
        }
        const double by = op.how == normalizing::l1   ? total
                          : op.how == normalizing::l2 ? std::sqrt(total)
                                                      : std::sqrt(total / n + op.epsilon);
        for (std::int64_t i = 0; i < size; ++i) {
          const auto p = detail::position(at(i), result);
          double y = (c.inputs[0][at(i)] - mean) / (by == 0 ? 1 : by);
          if (op.scale) y *= reference::broadcast(c.parameters[0], op.scale_shape, p, result.rank);
          if (op.bias) y += reference::broadcast(c.parameters[op.scale], op.bias_shape, p, result.rank);
          c.output[at(i)] = static_cast<float>(y);
        }
      }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
