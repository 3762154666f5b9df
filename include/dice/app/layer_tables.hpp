// The layers of a network alone, as values: what mappings at run time need.
#pragma once

#include "dice/app/backends.hpp"
#include "dice/cost/table.hpp"
#include "dice/kernels/cudnn/open.hpp"
#include "dice/kernels/table.hpp"
#include "dice/model/network.hpp"
#include "dice/runtime/program.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace dice::app {

namespace detail {

/// A layer computed alone by backend B; its pack is there if one of the two ways has something to pack.
template <cost::backend B, class Op>
constexpr kernels::entry alone(const Op& op, graph::shapes in, const tensor::shape& result, const cost::algorithm& chosen,
                               const cost::algorithm& smallest) {
  if constexpr (kernels::computes<kernels::tag<B>, Op>)
    return kernels::entry_for<kernels::tag<B>>(op, in, result, chosen.packed_bytes ? chosen : smallest);
  else return {.variants = 0};
}

/// Whether backend B has a kernel for each layer of Net.
template <class Net, cost::backend B>
inline constexpr auto computes_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array{kernels::computes<kernels::tag<B>, std::remove_cvref_t<decltype(Net::template layer<Id>::op)>>...};
}
(std::make_integer_sequence<int, Net::size>{});

template <class Net, cost::backend B>
inline constexpr std::array<kernels::entry, Net::size> kernels_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<kernels::entry, Net::size>{alone<B>(Net::template layer<Id>::op, graph::view_of<Net>.operands(Id),
                                                        Net::template layer<Id>::result, cost::algorithms<Net, B>[Id],
                                                        cost::smallest_algorithms<Net, B>[Id])...};
}
(std::make_integer_sequence<int, Net::size>{});

template <class Net> inline constexpr auto parameters_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array{std::span<const graph::parameter>(Net::template layer<Id>::parameters)...};
}
(std::make_integer_sequence<int, Net::size>{});

/// The function that opens the GPU of a rank.
constexpr auto opener() -> decltype(runtime::program::open) {
#ifdef DICE_WITH_CUDNN
  return &kernels::gpu::open;
#else
  return &open_no_gpu;
#endif
}

template <class Net, unsigned Set, cost::backend B> constexpr void add_kernels(runtime::layer_tables& to) {
  if constexpr ((Set & cost::bit(B)) != 0) {
    to.kernels[static_cast<std::size_t>(B)] = kernels_of<Net, B>;
    if constexpr (cost::is_cudnn(B)) to.open = opener();
  }
}

template <class Net, unsigned Set, cost::backend B> constexpr bool computes(int layer) {
  if constexpr ((Set & cost::bit(B)) != 0) return computes_of<Net, B>[static_cast<std::size_t>(layer)];
  else return false;
}

}  // namespace detail

/// Whether backend `by` of a set has a kernel for a layer of network Net: known without the tables.
template <class Net, unsigned Set> constexpr bool computes(cost::backend by, int layer) {
  return [&]<int... B>(std::integer_sequence<int, B...>) {
    return ((static_cast<cost::backend>(B) == by && detail::computes<Net, Set, static_cast<cost::backend>(B)>(layer)) || ...);
  }
  (std::make_integer_sequence<int, cost::backends>{});
}

/// The tables of network Net for a set of backends; they refer to no other.
template <class Net, unsigned Set>
inline constexpr runtime::layer_tables layer_tables_of = []<int... B>(std::integer_sequence<int, B...>) {
  runtime::layer_tables out{.algorithms = cost::tables_of<Net, Set>, .parameters = detail::parameters_of<Net>};
  (detail::add_kernels<Net, Set, static_cast<cost::backend>(B)>(out), ...);
  return out;
}
(std::make_integer_sequence<int, cost::backends>{});

}  // namespace dice::app
