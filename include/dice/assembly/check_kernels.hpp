#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/parts/part.hpp"
#include "dice/placement/check.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/program.hpp"

#include <cstddef>
#include <span>

namespace dice::assembly {

/// The first anchor for which its rank's backend has no kernel; `computes(backend, layer)` says whether a backend has one
/// for a layer of the whole network.
template <class Computes>
constexpr placement::finding check_kernels(const schedule::plan_view& p, const parts::parts_view& parts,
                                           std::span<const platform::device> devices, const Computes& computes) {
  for (const auto& g : p.groups) {
    const int layer = parts.whole(g.anchor);
    if (parts.is_own(g.anchor) && !computes(algorithm::backend_of(devices[g.rank].unit), layer))
      return {.what = placement::mistake::layer_without_kernel, .number = layer};
  }
  return {};
}

}  // namespace dice::assembly
