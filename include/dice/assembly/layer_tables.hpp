// The unfused layers of a network, as values: what mappings at run time need.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/assembly/team.hpp"
#include "dice/graph/network.hpp"
#include "dice/kernels/table.hpp"
#include "dice/runtime/program.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace dice::assembly {

namespace detail {

/// How backend B computes layer l of Net by one of its methods: one that packs weights, if there is one.
template <class Net, algorithm::backend B> constexpr algorithm::choice packing(int l) {
  algorithm::choice out = algorithm::choices<Net, B>[l];
  algorithm::for_each_method([&]<algorithm::method M>() {
    if constexpr (M.by == B)
      for (const auto* how : {&algorithm::choices<Net, M>[l], &algorithm::smallest_choices<Net, M>[l]})
        if (out.packed_bytes == 0) out = *how;
  });
  return out;
}

/// An unfused layer computed by backend B, as `how` says; its `pack` is set if that packs weights.
template <algorithm::backend B, class Op>
constexpr kernels::entry alone(const Op& op, graph::shapes in, const tensor::shape& result, const algorithm::choice& how) {
  if constexpr (kernels::computes<kernels::tag<B>, Op>) return kernels::entry_for<kernels::tag<B>>(op, in, result, how);
  else return {.what = {.op = &op}};
}

/// The functions of backend B for what networks of parts have beside the network's own layers.
template <algorithm::backend B> constexpr runtime::piece_kernels pieces_of() {
  using backend = kernels::tag<B>;
  if constexpr (kernels::is_here<backend>) {
    const auto of = [](const auto& op) {
      return kernels::functions{
          .run = kernels::functions_for(backend{}, op, {}, {}).run, .pack = nullptr, .variant = nullptr};
    };
    return {of(ops::slice{}), of(ops::concat{}), of(ops::sum{})};
  } else {
    return {};
  }
}

/// Whether all that layer l of Net reads and writes is float32 and stands for itself, as today's kernels need it.
template <class Net> constexpr bool on_floats(int l) {
  const auto is_float = [](int t) {
    const auto& of = graph::view_of<Net>.layers[t].output;
    return of.element == tensor::number::float32 && !of.quantized;
  };
  for (const auto& e : graph::view_of<Net>.into(l))
    if (!is_float(e.from)) return false;
  for (const auto& p : graph::parameters_of<Net>[l])
    if (p.element != tensor::number::float32) return false;
  return is_float(l);
}

/// Whether backend B computes each layer of Net; inputs and outputs need no kernel.
template <class Net, algorithm::backend B>
inline constexpr auto computes_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  const auto is_end = [](const graph::layer_info& layer) { return layer.is_input || layer.is_output; };
  return std::array{(on_floats<Net>(Id) &&
                     (is_end(graph::view_of<Net>.layers[Id]) ||
                      kernels::computes<kernels::tag<B>, std::remove_cvref_t<decltype(Net::template layer<Id>::op)>>))...};
}
(std::make_integer_sequence<int, Net::size>{});

template <class Net, algorithm::backend B>
inline constexpr std::array<kernels::entry, Net::size> kernels_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  std::array<kernels::entry, Net::size> out{alone<B>(Net::template layer<Id>::op, graph::view_of<Net>.operands(Id),
                                                     Net::template layer<Id>::result, packing<Net, B>(Id))...};
  for (int l = 0; l < Net::size; ++l)
    if (!computes_of<Net, B>[l]) out[l].variants = 0;
  return out;
}
(std::make_integer_sequence<int, Net::size>{});

/// The function that opens the accelerator of a rank that computes by backend B; null for a CPU.
template <algorithm::backend B> constexpr kernels::opener opener_of() {
  if constexpr (algorithm::processor_of(B) == platform::processor::cpu) return nullptr;
  else if constexpr (kernels::is_here<kernels::tag<B>>) return kernels::open_accelerator<kernels::tag<B>>;
  else return &open_elsewhere;
}

template <class Net, unsigned Set, algorithm::backend B> constexpr void add_kernels(runtime::layer_tables& to) {
  if constexpr ((Set & algorithm::bit(B)) != 0) {
    to.kernels[B] = kernels_of<Net, B>;
    to.open[B] = opener_of<B>();
    to.convert[B] = kernels::is_here<kernels::tag<B>> ? kernels::converts_by<kernels::tag<B>> : nullptr;
    to.pieces[B] = pieces_of<B>();
  }
}

template <class Net, unsigned Set, algorithm::backend B> constexpr bool computes(int layer) {
  if constexpr ((Set & algorithm::bit(B)) != 0) return computes_of<Net, B>[layer];
  else return false;
}

template <class Net, unsigned Set, algorithm::backend B> constexpr bool computes_all() {
  if constexpr ((Set & algorithm::bit(B)) != 0)
    for (const bool computes : computes_of<Net, B>)
      if (!computes) return false;
  return true;
}

}  // namespace detail

/// Whether each backend of a set computes each layer of network Net.
template <class Net, unsigned Set> constexpr bool computes_all() {
  bool all = true;
  algorithm::for_each_backend([&]<algorithm::backend B>() { all = all && detail::computes_all<Net, Set, B>(); });
  return all;
}

/// Whether backend `by` of a set computes a layer of network Net: known without the tables.
template <class Net, unsigned Set> constexpr bool computes(algorithm::backend by, int layer) {
  bool found = false;
  algorithm::for_each_backend(
      [&]<algorithm::backend B>() { found = found || (B == by && detail::computes<Net, Set, B>(layer)); });
  return found;
}

/// The tables of network Net for a set of backends; they refer to no other backend.
template <class Net, unsigned Set>
inline constexpr runtime::layer_tables layer_tables_of = [] {
  runtime::layer_tables out{
      .net = graph::view_of<Net>, .algorithms = algorithm::tables_of<Net, Set>, .parameters = graph::parameters_of<Net>};
  algorithm::for_each_backend([&]<algorithm::backend B>() { detail::add_kernels<Net, Set, B>(out); });
  return out;
}();

}  // namespace dice::assembly
