#pragma once

#include "dice/runtime/program.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace dice::runtime {

/// Whether groups a and b of one rank pack the same weights into the same form: parts of a layer that differ in rows and
/// columns only.
inline bool pack_the_same(const program& p, std::size_t a, std::size_t b) {
  const auto layer = [&](std::size_t g) { return p.whole(p.plan.groups[g].anchor); };
  const auto &one = p.kernels[a], &other = p.kernels[b];
  if (layer(a) != layer(b) || one.by.pack != other.by.pack) return false;
  if (one.what.how.packed_bytes != other.what.how.packed_bytes || one.what.how.variant != other.what.how.variant)
    return false;
  return std::equal(p.parameters[a].begin(), p.parameters[a].end(), p.parameters[b].begin(), p.parameters[b].end());
}

/// What the weights room must prepare for rank `rank`: an item for each of its fusion groups, in order, or for several that
/// pack the same. `groups` gets the items' indices by group of the plan, -1 for those of other ranks.
inline std::vector<weights::item> weights_of(const program& p, int rank, std::vector<int>& groups) {
  constexpr auto pack = [](const void* entry, kernels::parameter_list from, std::byte* to) {
    const auto& kernel = *static_cast<const kernels::entry*>(entry);
    kernel.by.pack(kernel.what, from, to);
  };
  std::vector<weights::item> out;
  std::unordered_map<int, std::size_t> of_layer;  // by layer of the network: its last group that packs weights of its own
  groups.assign(p.plan.groups.size(), -1);
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    if (p.plan.groups[g].rank != rank) continue;
    const auto& kernel = p.kernels[g];
    if (kernel.what.how.packed_bytes > 0) {  // not what only moves pieces of the layer's result
      const auto [at, first] = of_layer.emplace(p.whole(p.plan.groups[g].anchor), g);
      if (!first && pack_the_same(p, at->second, g)) {
        groups[g] = groups[at->second];
        continue;
      }
      at->second = g;
    }
    groups[g] = static_cast<int>(out.size());
    out.push_back({p.parameters[g], kernel.what.how.packed_bytes, kernel.by.pack ? +pack : nullptr, &kernel});
  }
  return out;
}

/// A function that returns the name of item i's layer, of those of weights_of(p, rank).
inline auto item_names(const program& p, int rank) {
  std::vector<int> groups;
  std::vector<std::string> names(weights_of(p, rank, groups).size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g] >= 0) names[groups[g]] = p.layers.layers[p.plan.groups[g].anchor].onnx_name;
  return [names](std::size_t i) { return names[i]; };
}

/// What weights_of(p, rank) returns, for all ranks.
inline std::vector<std::vector<weights::item>> weights_of(const program& p) {
  std::vector<std::vector<weights::item>> out;
  std::vector<int> groups;
  for (int rank = 0; rank < p.ranks(); ++rank) out.push_back(weights_of(p, rank, groups));
  return out;
}

}  // namespace dice::runtime
