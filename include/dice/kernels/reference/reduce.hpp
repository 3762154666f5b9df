#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cmath>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::reduce> : reference::base<ops::reduce> {
  static void compute(const ops::reduce& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    // Kept and reduced axes as two tensors of the input's rank: any axis has extent 1 in one of them.
    tensor::shape kept = in[0], reduced = in[0];
    for (int a = 0; a < in[0].rank; ++a) (op.over[a] ? kept : reduced)[a] = 1;
    const auto n = result.elements(), size = reduced.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto element = [&](std::int64_t k) {
        auto p = detail::position(i, kept);
        const auto q = detail::position(k, reduced);
        for (int a = 0; a < in[0].rank; ++a) p[a] += q[a];
        return c.inputs[0][detail::offset(p, in[0])];
      };
      c.output[i] = static_cast<float>(reduced_value(op, size, element));
    }
    e(c.output, n);
  }

 private:
  template <class Element> static double reduced_value(const ops::reduce& op, std::int64_t size, const Element& element) {
    using ops::reduction;
    double all = op.how == reduction::product ? 1 : 0;
    if (op.how >= reduction::largest) all = element(0);
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const double x = element(k);
      const bool largest = op.how == reduction::largest || op.how == reduction::arg_max;
      switch (op.how) {
        case reduction::mean:
        case reduction::total:
          all += x;
          break;
        case reduction::total_square:
          all += x * x;
          break;
        case reduction::product:
          all *= x;
          break;
        default:
          if (std::isnan(all)) break;
          if (std::isnan(x) || (largest ? x > all : x < all) || (op.last_index && x == all)) {
            all = x;
            at = k;
          }
      }
    }
    return op.finds_index() ? static_cast<double>(at) : op.how == reduction::mean ? all / static_cast<double>(size) : all;
  }
};

}  // namespace dice::kernels
