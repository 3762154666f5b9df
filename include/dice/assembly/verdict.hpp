// The last check of a mapping, which needs the kernels: every layer has one in its rank's backend.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/assembly/check_kernels.hpp"
#include "dice/assembly/layer_tables.hpp"
#include "dice/placement/verdict.hpp"
#include "dice/schedule/check.hpp"

#include <type_traits>

namespace dice::assembly {

/// The backends for which a program has kernels: those of the valid mapping Map and the one for CPUs. If one computes on
/// GPUs, all that do; if none does, the program refers to nothing of CUDA's.
template <class Net, class Map>
inline constexpr unsigned backends_of = [] {
  unsigned out = algorithm::bit(algorithm::backend_of({}));
  for (const auto& d : placement::of<Net, Map>.devices) out |= algorithm::bit(algorithm::backend_of(d.unit));
  constexpr unsigned gpu = algorithm::backends_on(platform::processor::gpu);
  return out & gpu ? out | gpu : out;
}();

/// The layers of Net, for Map and other mappings.
template <class Net, class Map> inline constexpr const auto& layer_tables_for = layer_tables_of<Net, backends_of<Net, Map>>;

/// A null pointer to a function whose return type is the named error for the mapping's first mistake, or int if it has none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (!std::is_same_v<decltype(schedule::verdict<Net, Map>()()), int>) return schedule::verdict<Net, Map>();
  else if constexpr (computes_all<Net, backends_of<Net, Map>>()) return static_cast<int (*)()>(nullptr);
  else if constexpr (constexpr auto f = check_kernels(schedule::draft_of<Net, Map>, schedule::parts_of<Net, Map>,
                                                      placement::of<Net, Map>.devices, computes<Net, backends_of<Net, Map>>);
                     f)
    return placement::failure<Net, Map, f>();
  else return static_cast<int (*)()>(nullptr);
}

/// Whether mapping Map is valid for network Net.
template <class Net, class Map>
concept valid = std::is_same_v<decltype(verdict<Net, Map>()()), int>;

}  // namespace dice::assembly
