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

/// The plan; `chosen` becomes the algorithms that keep its ranks within their memory limits.
template <class Net, class Map> constexpr built_plan compute(algorithms_of<Net>& chosen) {
  constexpr auto& where = placement::of<Net, Map>;
  return build({graph::view_of<Net>, where.owner, where.devices, chosen, where.in_flight}, tables<Net, Map>(), chosen);
}

/// Upper bounds of a plan's sizes, from the network's layers and edges.
template <class Net, class Map> constexpr sizes bounds() {
  constexpr auto n = static_cast<std::size_t>(Net::size), e = graph::view_of<Net>.edges.size();
  return {placement::of<Net, Map>.devices.size(), n + 1, n + 2 * e, 2 * e, n, e, 2 * n + e, n};
}

/// The plan in arrays of maximum size, and how much of them it fills; never part of a program.
template <class Net, class Map> struct roomy {
  arrays<bounds<Net, Map>()> data;
  sizes used;
  algorithms_of<Net> algorithms;
};

template <class Net, class Map> consteval auto compute_roomy() {
  roomy<Net, Map> out{};
  const built_plan p = compute<Net, Map>(out.algorithms);
  fill(out.data, p);
  const auto n = [](const auto& a) { return static_cast<std::size_t>(a.size()); };
  out.used = {n(p.ranks), n(p.segments), n(p.steps), n(p.operands), n(p.groups), n(p.messages), n(p.buffers), n(p.owner)};
  return out;
}

template <class Net, class Map> inline constexpr auto roomy_plan = compute_roomy<Net, Map>();

/// How each layer of the network of parts is computed as the anchor of a group, by id.
template <class Net, class Map> consteval auto copy_algorithms() {
  if constexpr (splits<Net, Map>) return split_of<Net, Map>.algorithms;
  else return roomy_plan<Net, Map>.algorithms;
}
template <class Net, class Map> inline constexpr auto algorithm_table = copy_algorithms<Net, Map>();

template <class Net, class Map> consteval auto trim() {
  constexpr auto& from = roomy_plan<Net, Map>;
  arrays<from.used> out{};
  out.in_flight = from.data.in_flight;
  const auto cut = [](auto& to, const auto& all) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = all[i];
  };
  cut(out.ranks, from.data.ranks), cut(out.segments, from.data.segments), cut(out.steps, from.data.steps);
  cut(out.operands, from.data.operands), cut(out.groups, from.data.groups), cut(out.messages, from.data.messages);
  cut(out.buffers, from.data.buffers), cut(out.owner, from.data.owner);
  return out;
}

template <class Net, class Map> inline constexpr auto stored = trim<Net, Map>();

template <class Net, class Map> consteval plan_view view_of_plan() {
  if constexpr (splits<Net, Map>) return split_of<Net, Map>.plan.view();
  else return stored<Net, Map>.view();
}
template <class Net, class Map> consteval parts::parts_view view_of_parts() {
  if constexpr (splits<Net, Map>) return split_of<Net, Map>.net.view();
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
                  "dice is wrong, please report: a part of a layer does not get what it needs");
  static_assert(messages_match(p, net), "dice is wrong, please report: a message of this plan has no partner");
  static_assert(reads_follow_writes(p, net),
                "dice is wrong, please report: a step of this plan reads what is not there yet");
  static_assert(places_match(p, net), "dice is wrong, please report: a step of this plan reads what lies elsewhere");
  static_assert(buffers_disjoint(p, net), "dice is wrong, please report: buffers of this plan overlap");
  static_assert(no_wait_cycle(p), "dice is wrong, please report: ranks of this plan wait for each other");
  return true;
}();

}  // namespace detail

/// The plan of valid mapping Map for network Net, before the proofs. Checks of mappings use this one: a compiler that frees
/// memory between functions (g++) then does not need the memory of plan and proofs at once.
template <class Net, class Map> inline constexpr plan_view draft_of = detail::view_of_plan<Net, Map>();

/// The same, proved sound.
template <class Net, class Map>
inline constexpr plan_view plan_of = (static_cast<void>(detail::proved<Net, Map>), draft_of<Net, Map>);

}  // namespace dice::schedule
