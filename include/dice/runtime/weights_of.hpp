#pragma once

#include "dice/runtime/program.hpp"
#include "dice/weights/store.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dice::runtime {

/// What the weights room must prepare for rank `rank`: its fusion groups in order. `groups` gets their indices.
inline std::vector<weights::item> weights_of(const program& p, int rank, std::vector<int>& groups) {
  constexpr auto pack = [](const void* entry, kernels::source from, std::byte* to) {
    const auto& kernel = *static_cast<const kernels::entry*>(entry);
    kernel.by.pack(kernel.what, from, to);
  };
  std::vector<weights::item> out;
  groups.clear();
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g)
    if (p.plan.groups[g].rank == rank) {
      groups.push_back(static_cast<int>(g));
      const auto& kernel = p.kernels[g];
      out.push_back({p.parameters[g], kernel.what.how.packed_bytes, kernel.by.pack ? +pack : nullptr, &kernel});
    }
  return out;
}

/// A function that returns the name of item i's layer, of those of weights_of(p, rank).
inline auto item_names(const program& p, int rank) {
  std::vector<int> groups;
  weights_of(p, rank, groups);
  return [&p, groups](std::size_t i) { return std::string(p.layers.layers[p.plan.groups[groups[i]].anchor].onnx_name); };
}

/// What weights_of(p, rank) returns, for all ranks.
inline std::vector<std::vector<weights::item>> weights_of(const program& p) {
  std::vector<std::vector<weights::item>> out;
  std::vector<int> groups;
  for (int rank = 0; rank < p.ranks(); ++rank) out.push_back(weights_of(p, rank, groups));
  return out;
}

}  // namespace dice::runtime
