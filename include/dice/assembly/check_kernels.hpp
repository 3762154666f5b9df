#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/parts/part.hpp"
#include "dice/placement/check.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/program.hpp"

#include <cstddef>
#include <span>

namespace dice::assembly {

/// The first layer that its rank's backend does not compute; `computes(backend, layer)` says whether a backend does so with
/// a layer of the whole network. Layers that are fused are asked for, too: what fuses depends on the mapping, the types of
/// tensors do not.
template <class Computes>
constexpr placement::finding check_kernels(const schedule::plan_view& p, const parts::parts_view& parts,
                                           std::span<const platform::device> devices, const Computes& computes) {
  int l = 0;
  for (const int rank : p.owner) {
    const int layer = parts.whole(l);
    if (parts.is_own(l++) && !computes(algorithm::backend_of(devices[rank].unit), layer))
      return {.what = placement::mistake::layer_without_kernel, .number = layer};
  }
  return {};
}

}  // namespace dice::assembly
