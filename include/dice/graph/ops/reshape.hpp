#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/reshape.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// The same elements in the same order with another shape, known at conversion. ONNX Reshape, Squeeze, Unsqueeze.
struct reshape {
  static constexpr std::string_view onnx = "Reshape";
  static constexpr bool is_copy = true;
  tensor::shape to{};
  DICE_MEMBERS(to)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(to.elements() == in[0].elements(), "the new shape has a different number of elements");
    return to;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::reshaped(out, in[0], result);
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape& result) const {
    return detail::reshape_step(axis, in[0], result);
  }
  constexpr reshape restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    detail::require_whole(out, in[0], result);
    return {tensor::extents(out, to)};
  }
};

}  // namespace dice::ops
