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

}  // namespace detail
}  // namespace dice::ops
