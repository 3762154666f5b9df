#pragma once

#include "dice/graph/ops/detail/binary.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = the smaller of a and b, NaN if one is NaN, with broadcasting, of two inputs or of an input and a constant (parameter
/// 0, shape `fixed`). ONNX Min.
struct min {
  static constexpr std::string_view onnx = "Min";
  constant which = constant::none;
  tensor::shape fixed{};

  constexpr tensor::shape infer(graph::shapes in) const { return detail::binary(in, which, fixed); }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::input_region(out, in[k], result);
  }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
  constexpr min restrict(const tensor::region& out, graph::shapes, const tensor::shape& result) const {
    return {which, detail::restrict(out, which, fixed, result)};
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape& result,
                                            const tensor::shape& extents) const {
    return detail::input_region(out, extents, result);
  }
};

}  // namespace dice::ops
