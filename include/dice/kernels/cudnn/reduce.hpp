#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::reduce> : cudnn::base<ops::reduce> {
  static void compute(const ops::reduce& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::reduce p{.y = c.output,
                    .x = c.inputs[0],
                    .how = joining_of(op.how),
                    .last_index = op.last_index,
                    .scale = 1,
                    .outputs = cudnn::count(result.elements()),
                    .size = 1,
                    .kept_rank = 0,
                    .kept_extent = {},
                    .kept_stride = {},
                    .over_rank = 0,
                    .over_extent = {},
                    .over_stride = {},
                    .end = e};
    // Adjacent axes of one kind are merged.
    const auto add = [](int& rank, int* extent, int* stride, int n, int step) {
      if (rank > 0 && stride[rank - 1] == step * n) {
        extent[rank - 1] *= n;
        stride[rank - 1] = step;
      } else {
        extent[rank] = n;
        stride[rank++] = step;
      }
    };
    for (int a = 0; a < in[0].rank; ++a) {
      const int n = cudnn::count(in[0][a]), step = cudnn::count(in[0].product(a + 1, in[0].rank));
      if (n == 1) continue;
      if (!op.over[a]) add(p.kept_rank, p.kept_extent, p.kept_stride, n, step);
      else {
        p.size *= n;
        add(p.over_rank, p.over_extent, p.over_stride, n, step);
      }
    }
    if (op.how == ops::reduction::mean) p.scale = 1.0f / static_cast<float>(p.size);
    cudnn::current->start(p);
  }

 private:
  static cudnn::joining joining_of(ops::reduction how) {
    switch (how) {
      case ops::reduction::mean:
      case ops::reduction::total:
        return cudnn::joining::sum;
      case ops::reduction::total_square:
        return cudnn::joining::sum_square;
      case ops::reduction::product:
        return cudnn::joining::prod;
      case ops::reduction::largest:
        return cudnn::joining::max;
      case ops::reduction::smallest:
        return cudnn::joining::min;
      case ops::reduction::arg_max:
        return cudnn::joining::arg_max;
      case ops::reduction::arg_min:
        return cudnn::joining::arg_min;
    }
    __builtin_unreachable();
  }
};

}  // namespace dice::kernels
