#pragma once

#include "dice/graph/arithmetic.hpp"
#include "dice/graph/ops/detail/binary.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

using graph::arithmetic;

/// y = f(a, b) with broadcasting, of two inputs or of an input and a constant (parameter 0, shape `fixed`). A type for each
/// function, since programs contain only the kernels of the types that they use.
template <arithmetic F> struct binary {
  static constexpr std::string_view onnx = graph::name_of(F);
  constant which = constant::none;
  tensor::shape fixed{};
  DICE_MEMBERS(which, fixed)

  constexpr tensor::shape infer(graph::shapes in) const { return detail::binary(in, which, fixed); }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    return detail::input_region(out, in[k], result);
  }
  constexpr graph::fusion fuses(graph::shapes in) const {
    return {.takes_activation = true, .is_residual = F == arithmetic::add && which == constant::none && in[0] == in[1]};
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
  constexpr binary restrict(const tensor::region& out, graph::shapes, const tensor::shape& result) const {
    return {which, detail::restrict(out, which, fixed, result)};
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape& result,
                                            const tensor::shape& extents) const {
    return detail::input_region(out, extents, result);
  }
};

using add = binary<arithmetic::add>;        ///< a + b. ONNX Add.
using sub = binary<arithmetic::sub>;        ///< a - b. ONNX Sub.
using mul = binary<arithmetic::mul>;        ///< a · b. ONNX Mul.
using div = binary<arithmetic::div>;        ///< a / b. ONNX Div.
using max = binary<arithmetic::max>;        ///< The larger, NaN if one is. ONNX Max.
using min = binary<arithmetic::min>;        ///< The smaller, NaN if one is. ONNX Min.
using p_relu = binary<arithmetic::p_relu>;  ///< a for a >= 0, else a · b. ONNX PRelu.
using pow = binary<arithmetic::pow>;        ///< a to the power of b. ONNX Pow.
using where = binary<arithmetic::where>;    ///< b, or a where b is NaN. ONNX Where with a constant condition.

}  // namespace dice::ops
