// The plan of a mapping that computes layers in parts, computed at compile time.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/parts/proofs.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/split_plan.hpp"
#include "dice/schedule/static_arrays.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace dice::schedule::detail {

template <class To, class From> constexpr void copy(To& to, const From& from) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(from.size()); ++i) to[i] = from[static_cast<int>(i)];
}

/// Whether mapping Map computes layers in parts.
template <class Net, class Map> inline constexpr bool splits = placement::of<Net, Map>.view().splits();

/// The operators of network Net, by id.
template <class Net> inline constexpr auto operators_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<graph::any_operator, Net::size>{graph::any_operator(Net::template layer<Id>::op)...};
}
(std::make_integer_sequence<int, Net::size>{});

template <class Net, class Map> consteval parts::parts_input unlimited_input() {
  constexpr auto& where = placement::of<Net, Map>;
  return {.net = graph::view_of<Net>,
          .operators = {operators_of<Net>.data(), Net::size},
          .where = where.view(),
          .devices = where.devices,
          .algorithms = tables<Net, Map>().chosen,
          .parameters = graph::parameters_of<Net>};
}

/// Whether the weights of a layer are so large that small parts may have another algorithm.
template <class Net, class Map> consteval bool has_large_weights() {
  bool out = false;
  for (const auto& by : tables<Net, Map>().chosen.values)
    for (const auto& c : by) out = out || c.packed_bytes > algorithm::cached_bytes;
  return out;
}

/// The algorithms of whole layers, by method, where limits of devices or small parts may change them.
template <class Net, class Map> consteval auto limit() {
  constexpr auto& where = placement::of<Net, Map>;
  constexpr meta::view<graph::any_operator> operators{operators_of<Net>.data(), Net::size};
  whole_algorithms whole(tables<Net, Map>(), graph::view_of<Net>, operators, where.view(), where.devices);
  if constexpr (has_limits<Net, Map>) build_split(unlimited_input<Net, Map>(), whole, where.in_flight);
  std::array<algorithms_of<Net>, algorithm::method_count> out{};
  for (std::size_t m = 0; m < out.size(); ++m)
    for (int l = 0; l < whole.chosen.values[m].size(); ++l) out[m][l] = whole.chosen.values[m][l];
  return out;
}
template <class Net, class Map> inline constexpr auto limited = limit<Net, Map>();

/// What the network of parts is made from.
template <class Net, class Map>
inline constexpr parts::parts_input split_input = [] {
  auto out = unlimited_input<Net, Map>();
  if constexpr (has_limits<Net, Map> || has_direct<Net, Map> || has_large_weights<Net, Map>())
    for (std::size_t m = 0; m < algorithm::method_count; ++m) out.algorithms.values[m] = limited<Net, Map>[m];
  return out;
}();

// Each step of parts::expand and build_split has a variable of its own, so that none is computed twice.

template <class Net, class Map> consteval std::size_t part_count() {
  int sum = 0;
  for (const int w : placement::of<Net, Map>.view().work_of)
    sum += parts::parts_each(placement::of<Net, Map>.view().work_items[w]);
  return static_cast<std::size_t>(sum);
}

template <class Net, class Map> struct stored_parts {
  std::array<parts::planned, part_count<Net, Map>()> list{};
  std::array<int, Net::size + 1> first{};

  consteval stored_parts() {
    const auto all = parts::plan_parts(split_input<Net, Map>);
    copy(list, all.list);
    copy(first, all.first);
  }
  constexpr parts::planned_view view() const { return {{list.data(), list.size()}, first.data()}; }
};
template <class Net, class Map> inline constexpr stored_parts<Net, Map> planned_parts;

/// Room for pieces and their operands.
struct room {
  std::size_t pieces, operands;
};

/// The pieces if there is room for them, and how many they are in any case.
template <class Net, class Map, room Room> struct stored_pieces {
  std::array<parts::piece, Room.pieces> list{};
  std::array<int, Room.operands> operands{};
  room used{};

  consteval stored_pieces() {
    const auto all = parts::divide(split_input<Net, Map>, planned_parts<Net, Map>.view());
    used = {static_cast<std::size_t>(all.list.size()), static_cast<std::size_t>(all.operands.size())};
    if (fits()) {
      copy(list, all.list);
      copy(operands, all.operands);
    }
  }
  constexpr bool fits() const { return used.pieces <= Room.pieces && used.operands <= Room.operands; }
  constexpr parts::pieces_view view() const { return {{list.data(), used.pieces}, {operands.data(), used.operands}}; }
};
template <class Net, class Map, room Room> inline constexpr stored_pieces<Net, Map, Room> pieces_in;

template <class Net, class Map> consteval parts::pieces_view pieces_of() {
  constexpr auto parts = part_count<Net, Map>();
  constexpr auto& found = pieces_in<Net, Map, room{3 * parts, 5 * parts}>;
  if constexpr (found.fits()) return found.view();
  else return pieces_in<Net, Map, found.used>.view();
}

template <class Net, class Map>
inline constexpr auto split_network = [] {
  constexpr auto pieces = pieces_of<Net, Map>();
  parts::basic_network<meta::in_fixed_arrays<parts::sizes_of(split_input<Net, Map>, pieces)>> out{};
  parts::write(split_input<Net, Map>, pieces, out);
  return out;
}();

template <class Net, class Map>
inline constexpr auto split_algorithms = [] {
  constexpr auto net = split_network<Net, Map>.view();
  std::array<algorithm::choice, net.net.layers.size()> out{};
  parts::choose(split_input<Net, Map>, net, out);
  return out;
}();

template <class Net, class Map> consteval plan_sizes split_bounds(std::size_t conversions) {
  constexpr auto net = split_network<Net, Map>.view();
  const auto n = net.net.layers.size(), e = net.net.edges.size();
  std::size_t messages = 0;
  for (const auto& edge : net.net.edges) messages += net.owner[edge.from] != net.owner[edge.to];
  const auto ranks = placement::of<Net, Map>.devices.size();
  return {.ranks = ranks,
          .segments = ranks + messages + (net.replicas.empty() ? 0 : n + messages),
          .steps = n + 3 * messages + conversions,  // borders are computed by themselves for messages only
          .operands = e + conversions,
          .groups = n,
          .messages = messages,
          .buffers = 2 * n + messages + conversions,
          .owner = n,
          .replicas = net.replicas.size(),
          .members = net.members.size()};
}

template <class Net, class Map, std::size_t Conversions>
inline constexpr roomy_arrays<split_bounds<Net, Map>(Conversions)> roomy_split_with{[] {
  constexpr auto net = split_network<Net, Map>.view();
  constexpr auto& where = placement::of<Net, Map>;
  return build({net.net, net.owner, where.devices, split_algorithms<Net, Map>, where.in_flight, net.parts, net.replicas,
                net.members});
}()};

template <class Net, class Map> consteval const auto& find_roomy_split() {
  constexpr auto& net = split_network<Net, Map>;
  constexpr auto& found = roomy_split_with<Net, Map, few_conversions(net.layers.size())>;
  if constexpr (found.fits()) return found;
  else return roomy_split_with<Net, Map, net.layers.size() + net.edges.size()>;
}
template <class Net, class Map> inline constexpr const auto& roomy_split = find_roomy_split<Net, Map>();

template <class Net, class Map>
inline constexpr auto split_plan = trim<roomy_split<Net, Map>.used>(roomy_split<Net, Map>.data);

}  // namespace dice::schedule::detail
