#pragma once

#include "dice/model/network.hpp"

#include <type_traits>

namespace dice::graph {

/// Stands for a part that a fusion group lacks.
struct nothing {};

/// Layers computed as one kernel: `Anchor`, then, if not `nothing`, the sum with operand `residual_operand` of the layer
/// `Residual`, or the layer `Pool`, the largest of each 2 × 2 elements; then the unary function `Activation`, which the
/// network may have before `Pool` if it never falls.
template <class Net, class Anchor, class Residual = nothing, class Activation = nothing, int ResidualOperand = 0,
          class Pool = nothing>
struct group {
  using network = Net;
  using anchor = Anchor;
  using residual = Residual;
  using activation = Activation;
  using pool = Pool;
  static constexpr bool has_residual = !std::is_same_v<Residual, nothing>;
  static constexpr bool has_activation = !std::is_same_v<Activation, nothing>;
  static constexpr bool has_pool = !std::is_same_v<Pool, nothing>;
  static constexpr int residual_operand = ResidualOperand;
  /// Shapes of the anchor's operands, in their order.
  static constexpr auto inputs = detail::operand_shapes<Net, Anchor>();
  /// Shape of the output.
  static constexpr tensor::shape result = std::conditional_t<has_pool, Pool, Anchor>::result;
};

}  // namespace dice::graph
