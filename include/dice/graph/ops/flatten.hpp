#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/reshape.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Axes before `axis` (0 ≤ axis ≤ rank) joined into one, the others into a second. ONNX Flatten.
struct flatten {
  static constexpr std::string_view onnx = "Flatten";
  static constexpr bool is_copy = true;
  int axis = 1;
  DICE_MEMBERS(axis)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(axis >= 0 && axis <= in[0].rank, "the axis is not one of the input's");
    return {in[0].product(0, axis), in[0].product(axis, in[0].rank)};
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::reshaped(out, in[0], result);
  }
  constexpr std::int64_t cut_step(int cut, graph::shapes in, const tensor::shape& result) const {
    return detail::reshape_step(cut, in[0], result);
  }
  constexpr flatten restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    detail::require_whole(out, in[0], result);
    return *this;
  }
};

}  // namespace dice::ops
