#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::depth_to_space> : cudnn::base<ops::depth_to_space> {
  static void compute(const ops::depth_to_space& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    const auto pixels = [](const tensor::shape& s, int k) {
      return s.rank == 3 && k == 0 ? 1 : cudnn::count(s[s.rank - 2 + k]);
    };
    cudnn::depth_to_space p{.y = c.output,
                            .x = c.inputs[0],
                            .n = cudnn::count(result.elements()),
                            .channels = cudnn::count(result[1]),
                            .height = pixels(result, 0),
                            .width = pixels(result, 1),
                            .group = cudnn::count(op.group_channels(in[0])),
                            .in_height = pixels(in[0], 0),
                            .in_width = pixels(in[0], 1),
                            .factors = {},
                            .crop = {},
                            .end = e};
    for (int k = 0; k < 2; ++k) {
      p.factors[k] = cudnn::count(op.factor(k, in[0]));
      p.crop[k] = in[0].rank == 3 && k == 0 ? 0 : cudnn::count(op.crop[k]);
    }
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
