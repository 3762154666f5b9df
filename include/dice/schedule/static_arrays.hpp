// What the plans of static_plan.hpp and static_split.hpp are stored in, and made from.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dice::schedule::detail {

struct sizes {
  std::size_t ranks, segments, steps, operands, groups, messages, buffers, owner, replicas = 0, members = 0;
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
  std::array<parts::replica_set, S.replicas> replicas{};
  std::array<parts::replica, S.members> members{};

  constexpr plan_view view() const {
    return {in_flight, ranks, segments, steps, operands, groups, messages, buffers, owner, replicas, members};
  }
};

template <class To, class From> constexpr void copy(To& to, const From& from) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(from.size()); ++i) to[i] = from[static_cast<int>(i)];
}

/// A plan in arrays of maximum size, and how much of them it fills; never part of a program.
template <sizes S> struct roomy_arrays {
  arrays<S> data{};
  sizes used{};

  constexpr explicit roomy_arrays(const built_plan& p) {
    data.in_flight = p.in_flight;
    copy(data.ranks, p.ranks), copy(data.segments, p.segments), copy(data.steps, p.steps);
    copy(data.operands, p.operands), copy(data.groups, p.groups), copy(data.messages, p.messages);
    copy(data.buffers, p.buffers), copy(data.owner, p.owner);
    copy(data.replicas, p.replicas), copy(data.members, p.members);
    const auto n = [](const auto& a) { return static_cast<std::size_t>(a.size()); };
    used = {n(p.ranks),    n(p.segments), n(p.steps), n(p.operands), n(p.groups),
            n(p.messages), n(p.buffers),  n(p.owner), n(p.replicas), n(p.members)};
  }
};

/// The plan that a roomy_arrays has, in arrays of the size that it uses.
template <sizes Used> consteval arrays<Used> trim(const auto& from) {
  arrays<Used> out{};
  out.in_flight = from.in_flight;
  const auto cut = [](auto& to, const auto& all) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = all[i];
  };
  cut(out.ranks, from.ranks), cut(out.segments, from.segments), cut(out.steps, from.steps);
  cut(out.operands, from.operands), cut(out.groups, from.groups), cut(out.messages, from.messages);
  cut(out.buffers, from.buffers), cut(out.owner, from.owner);
  cut(out.replicas, from.replicas), cut(out.members, from.members);
  return out;
}

/// Whether a device of the mapping has a memory limit, and whether one has direct_convolutions.
template <class Net, class Map>
inline constexpr bool has_limits = std::any_of(placement::of<Net, Map>.devices.begin(),
                                               placement::of<Net, Map>.devices.end(),
                                               [](const auto& d) { return d.memory_limit >= 0; });
template <class Net, class Map>
inline constexpr bool has_direct = std::any_of(placement::of<Net, Map>.devices.begin(),
                                               placement::of<Net, Map>.devices.end(),
                                               [](const auto& d) { return d.unit.direct; });

template <class Net> using algorithms_of = std::array<algorithm::choice, Net::size>;

/// Adds the tables of backend B if a device of the mapping needs them.
template <class Net, class Map, algorithm::backend B> constexpr void add_tables(algorithm::tables& to) {
  constexpr const auto& devices = placement::of<Net, Map>.devices;
  constexpr auto uses = [](const platform::device& d) { return algorithm::backend_of(d.unit) == B; };
  if constexpr (std::any_of(devices.begin(), devices.end(), uses)) {
    to.chosen[B] = algorithm::choices<Net, B>;
    if constexpr (has_limits<Net, Map>) to.smallest[B] = algorithm::smallest_choices<Net, B>;
    if constexpr (has_direct<Net, Map>) to.direct[B] = algorithm::direct_choices<Net, B>;
  }
}

template <class Net, class Map> constexpr algorithm::tables tables() {
  algorithm::tables out;
    algorithm::for_each_backend([&]<algorithm::backend B>() { add_tables<Net, Map, B>(out); });
  return out;
}

}  // namespace dice::schedule::detail
