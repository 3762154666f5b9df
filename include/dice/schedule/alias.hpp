// Which tensors share memory: a view lies within its operand, and a Concat's operands lie within its result.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::schedule {

/// A tensor on one rank: `bytes` at `offset` within the memory of instance `parent`, or with its own memory (-1).
struct instance {
  int layer = -1;
  tensor::layout layout = tensor::layout::plain;
  int parent = -1;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t pitch = 0;  ///< tensor::storage's, if it is a band of the parent's rows; 0: dense
  bool received = false;   ///< of another rank
  bool joined = false;     ///< a Concat whose operands all lie in place: nothing to compute
};

/// Instance whose memory holds instance i, and the offset in bytes from the beginning of that memory.
struct root_of {
  int at = -1;
  std::int64_t offset = 0;
};
constexpr root_of find_root(const meta::array<instance>& all, int i) {
  const auto* at = all.first;
  std::int64_t offset = 0;
  for (int parent = at[i].parent; parent >= 0; parent = at[i].parent) {
    offset += at[i].offset;
    i = parent;
  }
  return {i, offset};
}

/// Whether the root of operand e, received as a whole, has its place within Concat `whole`: operands that it covers must lie
/// in it.
constexpr bool fits_within(const graph::network_view& net, const meta::array<instance>& all, const meta::array<int>& index,
                           int whole, const graph::edge& e) {
  const auto root = find_root(all, index[e.from]);
  if (!all[index[e.from]].received || !all[root.at].received || all[root.at].layout != all[whole].layout) return false;
  const auto element = net.layers[all[whole].layer].output.element_bytes();
  const auto begin = e.joins * element - root.offset, end = begin + all[root.at].bytes;
  if (begin < 0 || end > all[whole].bytes) return false;
  for (const auto& other : net.into(all[whole].layer)) {
    const auto at = other.joins * element;
    const auto r = find_root(all, index[other.from]);
    if (at < end && at + all[index[other.from]].bytes > begin && (r.at != root.at || at - begin != r.offset)) return false;
  }
  return true;
}

/// Finds one rank's views and Concats joined in place, both only where the layouts are the same. `own`: the rank's layers;
/// `index[l]`: the instance of layer l's output, or -1 if there is none.
constexpr void alias(const graph::network_view& net, meta::array<instance>& all, const meta::array<int>& index,
                     meta::view<int> own) {
  const auto* layers = net.layers.first;
  for (int i = 0, end = static_cast<int>(own.count); i < end; ++i)
    if (const int l = own.first[i]; layers[l].view >= 0 && index[l] >= 0) {
      all[index[l]].parent = index[net.into(l)[0].from];
      all[index[l]].offset = net.layers[l].view * layers[l].output.element_bytes();
      // A replica's own result has the place where the others' results arrive.
      for (const auto& e : net.into(l).subview(1))
        if (const auto r = find_root(all, index[e.from]); r.offset == 0 && all[r.at].bytes == all[index[l]].bytes)
          all[r.at].parent = index[l];
    }
  // Later Concats first: in a growing chain (DenseNet) the earlier ones lie within the last.
  for (std::size_t i = own.size(); i-- > 0;) {
    const int l = own.first[i];
    if (layers[l].edges == 0 || net.edges.first[layers[l].first_edge].joins < 0 || index[l] < 0) continue;
    const auto in = net.into(l);
    // Do the operands already lie one after the other within another tensor?
    const int whole = index[l];
    const auto element = layers[l].output.element_bytes();
    const auto first = find_root(all, index[in[0].from]);
    bool placed = all[whole].parent < 0 && first.at != whole;
    const auto alike = [&](const graph::edge& e) { return all[index[e.from]].layout == all[whole].layout; };
    for (const auto& e : in) {
      const auto r = find_root(all, index[e.from]);
      placed = placed && alike(e) && r.at == first.at && r.offset == first.offset + (e.joins - in[0].joins) * element;
    }
    if (placed && in[0].joins == 0) {
      all[whole].parent = first.at;
      all[whole].offset = first.offset;
      all[whole].joined = true;
      continue;
    }
    bool joined = true;
    const auto target = find_root(all, whole);
    for (const auto& e : in) {
      const auto offset = e.joins * element;
      const auto r = find_root(all, index[e.from]);
      if (!alike(e)) {
        joined = false;
      } else if (r.at == target.at) {
        joined = joined && r.offset == target.offset + offset;
      } else if (r.offset == 0 && all[r.at].bytes == all[index[e.from]].bytes) {
        all[r.at].parent = whole;
        all[r.at].offset = offset;
      } else if (fits_within(net, all, index, whole, e)) {
        all[r.at].parent = whole;
        all[r.at].offset = offset - r.offset;
      } else {
        joined = false;
      }
    }
    all[whole].joined = joined;
  }
}

}  // namespace dice::schedule
