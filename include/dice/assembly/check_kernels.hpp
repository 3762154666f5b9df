#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/placement/check.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/program.hpp"

#include <cstddef>
#include <span>

namespace dice::assembly {

/// The first layer that anchors a group for which its backend has no kernel; `computes(backend, layer)` says whether it has.
template <class Computes>
constexpr placement::finding check_kernels(const schedule::plan_view& p, std::span<const platform::device> devices,
                                           const Computes& computes) {
  for (const auto& g : p.groups)
    if (!computes(algorithm::backend_of(devices[static_cast<std::size_t>(g.rank)].on), g.anchor))
      return {.what = placement::mistake::no_kernel, .number = g.anchor};
  return {};
}

}  // namespace dice::assembly
