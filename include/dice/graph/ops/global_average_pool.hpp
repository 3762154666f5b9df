#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Mean over all axes past the second, which are kept with extent 1. ONNX GlobalAveragePool.
struct global_average_pool {
  static constexpr std::string_view onnx = "GlobalAveragePool";

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(in[0].rank >= 3, "expected a tensor of rank 3 or more");
    tensor::shape out = in[0];
    for (int a = 2; a < out.rank; ++a) out[a] = 1;
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < 2; ++a) {
      r.begin[a] = out.begin[a];
      r.end[a] = out.end[a];
    }
    return r;
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return axis == 1 ? graph::finest_step(axis) : 0;
  }
};

}  // namespace dice::ops
