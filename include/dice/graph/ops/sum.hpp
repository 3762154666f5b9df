#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/broadcast.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = sum of one or more inputs with broadcasting. ONNX Sum.
struct sum {
  static constexpr std::string_view onnx = "Sum";

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    for (const auto& s : in.subview(1)) out = detail::broadcast(out, s);
    return out;
  }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::input_region(out, in[k], result);
  }
  constexpr graph::fusion fuses(graph::shapes in) const {
    return {.takes_activation = true, .is_residual = in.size() == 2 && in[0] == in[1]};
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
};

}  // namespace dice::ops
