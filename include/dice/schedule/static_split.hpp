// The plan of a mapping that computes layers in parts, computed at compile time.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/parts/proofs.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/split_plan.hpp"
#include "dice/schedule/static_arrays.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace dice::schedule::detail {

/// Whether mapping Map computes layers in parts.
template <class Net, class Map> inline constexpr bool splits = placement::of<Net, Map>.view().splits();

/// The operators of network Net, by id.
template <class Net> inline constexpr auto operators_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<graph::any_operator, Net::size>{graph::any_operator(Net::template layer<Id>::op)...};
}
(std::make_integer_sequence<int, Net::size>{});

struct split_sizes {
  std::size_t layers, edges, operators, parameters;
  sizes plan;
};

/// A network of parts in arrays of fixed size.
template <split_sizes S> struct parts_arrays {
  std::array<graph::layer_info, S.layers> layers{};
  std::array<graph::edge, S.edges> edges{};
  std::array<tensor::shape, S.edges> carried{};
  std::array<parts::part, S.layers> parts{};
  std::array<int, S.layers> owner{}, restricted{};
  std::array<graph::any_operator, S.operators> operators{};
  std::array<int, S.layers + 1> first_parameter{};
  std::array<graph::parameter, S.parameters> parameters{};

  constexpr parts::parts_view view() const {
    return {{layers, edges, carried},
            {parts.data(), parts.size()},
            owner,
            restricted,
            {operators.data(), operators.size()},
            first_parameter,
            parameters};
  }
};

/// Both, and how each layer of the network of parts is computed.
template <split_sizes S> struct split_arrays {
  parts_arrays<S> net;
  std::array<algorithm::choice, S.layers> algorithms{};
  arrays<S.plan> plan;
};

template <class Net, class Map> constexpr built_split compute_split() {
  constexpr auto& where = placement::of<Net, Map>;
  return build_split({.net = graph::view_of<Net>,
                      .operators = {operators_of<Net>.data(), Net::size},
                      .where = where.view(),
                      .devices = where.devices,
                      .parameters = graph::parameters_of<Net>},
                     tables<Net, Map>(), where.in_flight);
}

template <class Net, class Map> consteval split_sizes count_split() {
  const auto all = compute_split<Net, Map>();
  const auto n = [](const auto& a) { return static_cast<std::size_t>(a.size()); };
  const auto& p = all.plan;
  return {n(all.net.layers),
          n(all.net.edges),
          n(all.net.operators),
          n(all.net.parameters),
          {n(p.ranks), n(p.segments), n(p.steps), n(p.operands), n(p.groups), n(p.messages), n(p.buffers), n(p.owner)}};
}

template <class Net, class Map> consteval auto store_split() {
  const auto from = compute_split<Net, Map>();
  split_arrays<count_split<Net, Map>()> out{};
  copy(out.net.layers, from.net.layers), copy(out.net.edges, from.net.edges), copy(out.net.carried, from.net.carried);
  copy(out.net.parts, from.net.parts), copy(out.net.owner, from.net.owner);
  copy(out.net.restricted, from.net.restricted), copy(out.net.operators, from.net.operators);
  copy(out.net.first_parameter, from.net.first_parameter), copy(out.net.parameters, from.net.parameters);
  copy(out.algorithms, from.algorithms);
  fill(out.plan, from.plan);
  return out;
}

template <class Net, class Map> inline constexpr auto split_of = store_split<Net, Map>();

}  // namespace dice::schedule::detail
