#pragma once

#include "dice/placement/verdict.hpp"
#include "dice/schedule/static_plan.hpp"

namespace dice::schedule {

/// A null pointer to a function whose return type is the named error for the first mistake of the mapping, including its
/// memory limits, or int if there is none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (placement::found<Net, Map>) return placement::verdict<Net, Map>();
  else if constexpr (!detail::has_limits<Net, Map>) return static_cast<int (*)()>(nullptr);
  else if constexpr (constexpr auto f = check_limits(draft_of<Net, Map>, placement::of<Net, Map>.devices); f)
    return placement::failure<Net, Map, f>();
  else return static_cast<int (*)()>(nullptr);
}

}  // namespace dice::schedule
