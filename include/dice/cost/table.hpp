#pragma once

#include "dice/cost/openmp.hpp"
#include "dice/cost/reference.hpp"
#include "dice/model/model.hpp"

#include <array>
#include <span>
#include <utility>

namespace dice::cost {

/// How backend B computes `op` on inputs of shapes `in` with an output of shape `result`.
template <backend B, class Op> constexpr algorithm choose(const Op& op, graph::shapes in, const tensor::shape& result) {
  if constexpr (B == backend::openmp) return choose_openmp(op, in, result);
  else return choose_reference(op, in, result);
}

namespace detail {

template <class Layer, class Net, backend B> constexpr algorithm of_layer() {
  const auto in = graph::detail::operand_shapes<Net, Layer>();
  return choose<B>(Layer::op, in, Layer::result);
}

}  // namespace detail

/// How backend B computes each layer of Net as the anchor of a group, by id.
template <class Net, backend B>
inline constexpr std::array<algorithm, Net::size> algorithms = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<algorithm, Net::size>{detail::of_layer<typename Net::template layer<Id>, Net, B>()...};
}
(std::make_integer_sequence<int, Net::size>{});

/// The same as plain values.
template <class Net, backend B> inline constexpr std::span<const algorithm> algorithms_of = algorithms<Net, B>;

}  // namespace dice::cost
