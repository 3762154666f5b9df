// The plan of a mapping, computed and proved at compile time.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/limits.hpp"
#include "dice/schedule/proofs.hpp"
#include "dice/schedule/static_split.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dice::schedule {

namespace detail {

/// Upper bounds of a plan's sizes with so many conversions, from the network's layers and edges.
template <class Net, class Map> constexpr plan_sizes bounds(std::size_t conversions) {
  constexpr auto n = static_cast<std::size_t>(Net::size), e = graph::view_of<Net>.edges.size();
  return {.ranks = placement::of<Net, Map>.devices.size(),
          .segments = n + 1,
          .steps = n + 2 * e + conversions,
          .operands = 2 * e + conversions,
          .groups = n,
          .messages = e,
          .buffers = 2 * n + e + conversions,
          .owner = n};
}

template <class Net, class Map, std::size_t Conversions> struct roomy {
  algorithms_of<Net> algorithms{};  ///< those that keep the ranks within their memory limits
  roomy_arrays<bounds<Net, Map>(Conversions)> plan{compute(algorithms)};

 private:
  static constexpr built_plan compute(algorithms_of<Net>& chosen) {
    constexpr auto& where = placement::of<Net, Map>;
    return build({graph::view_of<Net>, where.owner, where.devices, chosen, where.in_flight}, tables<Net, Map>(), chosen);
  }
};
template <class Net, class Map, std::size_t Conversions> inline constexpr roomy<Net, Map, Conversions> roomy_with;

template <class Net, class Map> consteval const auto& find_roomy() {
  constexpr auto& found = roomy_with<Net, Map, few_conversions(Net::size)>;
  if constexpr (found.plan.fits()) return found;
  else return roomy_with<Net, Map, Net::size + graph::view_of<Net>.edges.size()>;
}
template <class Net, class Map> inline constexpr const auto& roomy_plan = find_roomy<Net, Map>();

/// How each layer of the network of parts is computed as the anchor of a group, by id.
template <class Net, class Map> consteval auto copy_algorithms() {
  if constexpr (splits<Net, Map>) return split_algorithms<Net, Map>;
  else return roomy_plan<Net, Map>.algorithms;
}
template <class Net, class Map> inline constexpr auto algorithm_table = copy_algorithms<Net, Map>();

template <class Net, class Map>
inline constexpr auto stored = trim<roomy_plan<Net, Map>.plan.used>(roomy_plan<Net, Map>.plan.data);

template <class Net, class Map> consteval plan_view view_of_plan() {
  if constexpr (splits<Net, Map>) return split_plan<Net, Map>.view();
  else return stored<Net, Map>.view();
}
template <class Net, class Map> consteval parts::parts_view view_of_parts() {
  if constexpr (splits<Net, Map>) return split_network<Net, Map>.view();
  else return {.net = graph::view_of<Net>};
}

}  // namespace detail

/// The network whose layers the plan of valid mapping Map for network Net refers to: Net itself if no layer is split.
template <class Net, class Map> inline constexpr parts::parts_view parts_of = detail::view_of_parts<Net, Map>();

namespace detail {

template <class Net, class Map>
inline constexpr bool proved = [] {
  constexpr plan_view p = view_of_plan<Net, Map>();
  constexpr auto& net = parts_of<Net, Map>.net;
  if constexpr (splits<Net, Map>)
    static_assert(parts::parts_match(graph::view_of<Net>, {operators_of<Net>.data(), Net::size}, parts_of<Net, Map>),
                  "internal error, please report: a part of a layer does not get what it needs");
  static_assert(turns_match(p, parts_of<Net, Map>),
                "internal error, please report: a step of this plan reads a tensor not produced for its frames");
  static_assert(messages_match(p, net), "internal error, please report: a message of this plan has no partner");
  static_assert(reads_follow_writes(p, net, parts_of<Net, Map>.parts),
                "internal error, please report: a step of this plan reads a tensor that is not there yet");
  static_assert(places_match(p, net),
                "internal error, please report: a step of this plan reads a tensor at the wrong place");
  static_assert(layouts_fit(p, net, algorithm_table<Net, Map>),
                "internal error, please report: a step of this plan takes a tensor in the wrong layout");
  static_assert(buffers_disjoint(p, net), "internal error, please report: buffers of this plan overlap");
  static_assert(places_in_buffers(p, net), "internal error, please report: a tensor of this plan lies outside its buffer");
  if constexpr (!p.replicas.empty())  // without replicas, tests show it; a proof would take more memory than all others
    static_assert(kept_until_read(p, net, parts_of<Net, Map>.parts),
                  "internal error, please report: a tensor of this plan is overwritten before it is read");
  static_assert(no_wait_cycle(p), "internal error, please report: ranks of this plan wait for each other");
  return true;
}();

}  // namespace detail

/// The plan of valid mapping Map for network Net, before the proofs: checks of mappings use this one.
template <class Net, class Map> inline constexpr plan_view draft_of = detail::view_of_plan<Net, Map>();

/// The same, proved sound.
template <class Net, class Map>
inline constexpr plan_view plan_of = (static_cast<void>(detail::proved<Net, Map>), draft_of<Net, Map>);

namespace detail {

template <class Net, class Map, int Phase> void work_out() {
  if constexpr (Phase == 6) {
    static_cast<void>(proved<Net, Map>);
  } else if constexpr (splits<Net, Map>) {
    if constexpr (Phase == 0) static_cast<void>(planned_parts<Net, Map>);
    if constexpr (Phase == 1) static_assert(!pieces_of<Net, Map>().list.empty());
    if constexpr (Phase == 2) static_cast<void>(split_network<Net, Map>);
    if constexpr (Phase == 3) static_cast<void>(split_algorithms<Net, Map>);
    if constexpr (Phase == 4) static_cast<void>(roomy_split<Net, Map>);
    if constexpr (Phase == 5) static_cast<void>(split_plan<Net, Map>);
  } else if constexpr (Phase == 5) {
    static_cast<void>(roomy_plan<Net, Map>);
  }
}

}  // namespace detail

/// Functions that do nothing when they run. g++ frees memory only between functions, so a function template that names this,
/// and then calls another one that needs plan_of, has each phase of the plan computed in a function of its own: that halves
/// the compiler's memory.
template <class Net, class Map> inline constexpr auto phases_of = []<int... Phase>(std::integer_sequence<int, Phase...>) {
  return std::array{&detail::work_out<Net, Map, Phase>...};
}
(std::make_integer_sequence<int, 7>{});

}  // namespace dice::schedule
