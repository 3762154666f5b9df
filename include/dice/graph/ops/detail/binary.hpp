#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/broadcast.hpp"

#include <cstdint>

namespace dice::ops {

/// Which operand of a binary operator is a constant of the model.
enum class constant : std::uint8_t { none, first, second };

namespace detail {

/// Shape of the result of a binary operator: one input and a constant of shape `fixed`, or two inputs.
constexpr tensor::shape binary(graph::shapes in, constant which, const tensor::shape& fixed) {
  return which == constant::none ? broadcast(in[0], in[1]) : broadcast(in[0], fixed);
}

/// Shape of the constant of an operator that is restricted to region `out` of its result.
constexpr tensor::shape restrict(const tensor::region& out, constant which, const tensor::shape& fixed,
                                 const tensor::shape& result) {
  return which == constant::none ? fixed : tensor::extents(input_region(out, fixed, result), fixed);
}

}  // namespace detail
}  // namespace dice::ops
