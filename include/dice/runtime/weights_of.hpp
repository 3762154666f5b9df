#pragma once

#include "dice/runtime/program.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace dice::runtime {

/// What a rank needs of a network's weights, under one plan or under several: layers' parameters, or regions of them, in the
/// forms in which kernels read them. Plans share what is the same.
class needed_weights {
 public:
  needed_weights() = default;
  needed_weights(const program& p, int rank) { add(p, rank); }

  /// Adds what rank `rank` needs under another plan of the same network. `p` must outlive this.
  void add(const program& p, int rank) {
    const auto earlier = std::ssize(items_);
    std::unordered_map<int, int> last_packed;  // by layer of the network: the last item of this plan
    auto& by_group = by_group_.emplace_back(p.plan.groups.size(), -1);
    for (std::size_t g = 0; g < by_group.size(); ++g) {
      if (p.plan.groups[g].rank != rank) continue;
      const int layer = p.whole(p.plan.groups[g].anchor);
      const auto wanted = item_of(p, g);
      auto& at = by_group[g];
      // Parts of a layer that differ only in rows and columns pack the same.
      if (const auto before = last_packed.find(layer); before != last_packed.end() && same(items_[before->second], wanted))
        at = before->second;
      const auto [first, end] = of_layer_.equal_range(layer);
      for (auto i = first; i != end && at < 0; ++i)
        if (i->second < earlier && same(items_[i->second], wanted)) at = i->second;
      if (at < 0) {
        at = static_cast<int>(items_.size());
        items_.push_back(wanted);
        of_layer_.emplace(layer, at);
      }
      if (wanted.packed_bytes > 0) last_packed[layer] = at;
    }
  }

  const std::vector<weights::item>& items() const { return items_; }
  /// By fusion group of a plan, in the order of add(): which item it needs; -1 for groups of other ranks.
  std::span<const int> of_plan(std::size_t plan) const { return by_group_[plan]; }

 private:
  static weights::item item_of(const program& p, std::size_t group) {
    constexpr auto pack = [](const void* entry, kernels::parameter_list from, std::byte* to) {
      const auto& kernel = *static_cast<const kernels::entry*>(entry);
      kernel.by.pack(kernel.what, from, to);
    };
    const auto& kernel = p.kernels[group];
    return {p.parameters[group], kernel.what.how.packed_bytes, kernel.by.pack ? +pack : nullptr, &kernel};
  }
  /// Whether two items of one layer are the same bytes.
  static bool same(const weights::item& a, const weights::item& b) {
    const auto &one = *static_cast<const kernels::entry*>(a.kernel), &other = *static_cast<const kernels::entry*>(b.kernel);
    if (a.packed_bytes != b.packed_bytes || one.by.pack != other.by.pack) return false;
    if (a.packed_bytes > 0 && one.what.how.variant != other.what.how.variant) return false;
    return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end());
  }

  std::vector<weights::item> items_;
  std::unordered_multimap<int, int> of_layer_;  ///< items by layer of the network
  std::vector<std::vector<int>> by_group_;      ///< by plan, by fusion group
};

/// The weights of a plan's fusion groups: those of group g are item items[g] of `in`.
struct group_weights {
  const weights::store& in;
  std::span<const int> items;
};

/// A function that returns the name of the layer of item i of needed_weights(p, rank).
inline auto item_names(const program& p, int rank) {
  const needed_weights needed(p, rank);
  std::vector<std::string> names(needed.items().size());
  const auto groups = needed.of_plan(0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g] >= 0) names[groups[g]] = p.layers.layers[p.plan.groups[g].anchor].onnx_name;
  return [names](std::size_t i) { return names[i]; };
}

/// The items of needed_weights(p, rank), for all ranks.
inline std::vector<std::vector<weights::item>> weights_of(const program& p) {
  std::vector<std::vector<weights::item>> out;
  for (int rank = 0; rank < p.ranks(); ++rank) out.push_back(needed_weights(p, rank).items());
  return out;
}

}  // namespace dice::runtime
