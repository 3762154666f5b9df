#pragma once

#include "dice/graph/ops/detail/binary.hpp"

#include <string_view>

namespace dice::ops {

/// y = a / b with broadcasting, of two inputs or of an input and a constant (parameter 0, shape `fixed`). ONNX Div.
struct div {
  static constexpr std::string_view onnx = "Div";
  constant which = constant::none;
  tensor::shape fixed{};

  constexpr tensor::shape infer(graph::shapes in) const { return detail::binary(in, which, fixed); }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::input_region(out, in[k], result);
  }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
};

}  // namespace dice::ops
