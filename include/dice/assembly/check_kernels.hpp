#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/placement/check.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/program.hpp"

#include <cstddef>
#include <span>

namespace dice::assembly {

/// The first anchor for which its rank's backend has no kernel; `computes(backend, layer)` says whether a backend has one.
template <class Computes>
constexpr placement::finding check_kernels(const schedule::plan_view& p, std::span<const platform::device> devices,
                                           const Computes& computes) {
  for (const auto& g : p.groups)
    if (!computes(algorithm::backend_of(devices[g.rank].unit), g.anchor))
      return {.what = placement::mistake::no_kernel, .number = g.anchor};
  return {};
}

}  // namespace dice::assembly
