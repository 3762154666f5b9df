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

template <sizes S> constexpr void fill(arrays<S>& to, const built_plan& from) {
  to.in_flight = from.in_flight;
  copy(to.ranks, from.ranks), copy(to.segments, from.segments), copy(to.steps, from.steps);
  copy(to.operands, from.operands), copy(to.groups, from.groups), copy(to.messages, from.messages);
  copy(to.buffers, from.buffers), copy(to.owner, from.owner);
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

}  // namespace dice::schedule::detail
