#pragma once

#include "dice/runtime/program.hpp"
#include "dice/weights/store.hpp"

#include <cstddef>
#include <vector>

namespace dice::runtime {

/// What the weights room must prepare for rank `rank`: its fusion groups in order. `groups` gets their indices.
inline std::vector<weights::need> needs_of(const program& p, int rank, std::vector<int>& groups) {
  std::vector<weights::need> out;
  groups.clear();
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g)
    if (p.plan.groups[g].rank == rank) {
      groups.push_back(static_cast<int>(g));
      out.push_back({p.parameters[g], p.algorithms[g].packed_bytes, p.kernels[g].pack, p.algorithms[g].variant});
    }
  return out;
}

/// The same for all ranks.
inline std::vector<std::vector<weights::need>> needs_of(const program& p) {
  std::vector<std::vector<weights::need>> out;
  std::vector<int> groups;
  for (int rank = 0; rank < p.ranks(); ++rank) out.push_back(needs_of(p, rank, groups));
  return out;
}

}  // namespace dice::runtime
