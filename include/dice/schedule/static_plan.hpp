// The plan of a mapping, computed and proved at compile time.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/limits.hpp"
#include "dice/schedule/proofs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dice::schedule {

namespace detail {

struct sizes {
  std::size_t ranks, segments, steps, operands, groups, messages, buffers, owner;
};

/// A plan in arrays of fixed size.
template <sizes S> struct arrays {
  int in_flight = 1;
  std::array<rank_program, S.ranks> ranks{};
  std::array<segment, S.segments> segments{};
  std::array<step, S.steps> steps{};
  std::array<place, S.operands> operands{};
  std::array<group, S.groups> groups{};
  std::array<message, S.messages> messages{};
  std::array<buffer, S.buffers> buffers{};
  std::array<int, S.owner> owner{};

  constexpr plan_view view() const {
    return {in_flight, ranks, segments, steps, operands, groups, messages, buffers, owner};
  }
};

template <class To, class From> constexpr void copy(To& to, const From& from) {
  for (int i = 0; i < from.size(); ++i) to[i] = from[i];
}

template <class Net> using algorithms_of = std::array<algorithm::choice, Net::size>;

/// Adds the tables of backend B if a device of the mapping needs them.
template <class Net, class Map, algorithm::backend B> constexpr void add_tables(algorithm::tables& to) {
  constexpr const auto& devices = placement::of<Net, Map>.devices;
  constexpr auto uses = [](const platform::device& d) { return algorithm::backend_of(d.unit) == B; };
  constexpr auto limited = [](const platform::device& d) { return d.memory_limit >= 0; };
  if constexpr (std::any_of(devices.begin(), devices.end(), uses)) {
    to.chosen[B] = algorithm::choices<Net, B>;
    if constexpr (std::any_of(devices.begin(), devices.end(), limited)) to.smallest[B] = algorithm::smallest_choices<Net, B>;
  }
}

template <class Net, class Map> constexpr algorithm::tables tables() {
  algorithm::tables out;
  [&]<int... B>(std::integer_sequence<int, B...>) { (add_tables<Net, Map, static_cast<algorithm::backend>(B)>(out), ...); }
  (std::make_integer_sequence<int, algorithm::backends>{});
  return out;
}

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
  out.data.in_flight = p.in_flight;
  copy(out.data.ranks, p.ranks), copy(out.data.segments, p.segments), copy(out.data.steps, p.steps);
  copy(out.data.operands, p.operands), copy(out.data.groups, p.groups), copy(out.data.messages, p.messages);
  copy(out.data.buffers, p.buffers), copy(out.data.owner, p.owner);
  const auto n = [](const auto& a) { return static_cast<std::size_t>(a.size()); };
  out.used = {n(p.ranks), n(p.segments), n(p.steps), n(p.operands), n(p.groups), n(p.messages), n(p.buffers), n(p.owner)};
  return out;
}

template <class Net, class Map> inline constexpr auto roomy_plan = compute_roomy<Net, Map>();

/// How each layer is computed as the anchor of a group, by id.
template <class Net, class Map> inline constexpr auto algorithm_table = roomy_plan<Net, Map>.algorithms;

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

template <class Net, class Map>
inline constexpr bool proved = [] {
  constexpr plan_view p = stored<Net, Map>.view();
  constexpr auto& net = graph::view_of<Net>;
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
template <class Net, class Map> inline constexpr plan_view draft_of = detail::stored<Net, Map>.view();

/// The same, proved sound.
template <class Net, class Map>
inline constexpr plan_view plan_of = (static_cast<void>(detail::proved<Net, Map>), draft_of<Net, Map>);

}  // namespace dice::schedule
