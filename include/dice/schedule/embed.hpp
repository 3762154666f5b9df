// Parts computed in the place where they are put together: as bands of rows of a larger tensor.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/schedule/alias.hpp"
#include "dice/schedule/fuse.hpp"

#include <cstdint>

namespace dice::schedule {

/// What decides on one rank whether a tensor may be a band of rows.
struct band_rules {
  const graph::network_view& net;
  const fusion_groups& groups;
  meta::view<algorithm::choice> algorithms;
  const meta::array<tensor::layout>& layouts;

  /// The group that computes tensor t, or null.
  constexpr const group* maker(int t) const {
    const int g = groups.of_layer.first[t];
    return g >= 0 && groups.list.first[g].output() == t ? groups.list.first + g : nullptr;
  }
  /// Whether the kernel whose result is layer l can read operand t where it is a band.
  constexpr bool reads(int l, int t) const {
    const auto* g = maker(l);
    if (!g) return false;
    const auto& how = algorithms.first[g->anchor];
    const auto& shape = net.layers.first[t].output;
    const auto* edges = net.edges.first;
    const auto& anchor = net.layers.first[g->anchor];
    for (int e = anchor.first_edge, end = e + anchor.edges; e < end; ++e)
      if (edges[e].from == t && !how.reads_pitched(shape, layouts.first[t], layouts.first[l])) return false;
    return g->residual < 0 || edges[net.layers.first[g->residual].first_edge + g->residual_operand].from != t ||
           how.adds_pitched(shape, layouts.first[t], layouts.first[l]);
  }
  /// Whether the kernel that computes t can write it as a band.
  constexpr bool writes(int t) const {
    const auto* g = maker(t);
    return g && algorithms.first[g->anchor].writes_pitched(net.layers.first[t].output, layouts.first[t]);
  }
  /// Whether layer l puts rows of images together.
  constexpr bool joins_rows(int l) const {
    const auto& whole = net.layers.first[l].output;
    if (net.layers.first[l].edges < 2 || whole.rank != 4 || !maker(l)) return false;
    std::int64_t rows = 0;
    for (const auto& e : net.into(l)) {
      const auto& part = net.layers.first[e.from].output;
      if (part.dim[0] != whole.dim[0] || part.dim[1] != whole.dim[1] || part.dim[3] != whole.dim[3]) return false;
      rows += part.dim[2];
    }
    return rows == whole.dim[2];
  }
};

/// Places the operands of the rank's Concats of rows within their results, where the kernels that write and read them can:
/// the Concat then copies only the others. `own`: the rank's layers; `sent(t)`: whether tensor t is sent;
/// `reads`: what the step of each layer reads.
template <class Sent>
constexpr void embed(const band_rules& rules, meta::array<instance>& all, const meta::array<int>& index, meta::view<int> own,
                     const Sent& sent, const read_lists& reads) {
  const auto& net = rules.net;
  meta::array<int> joins;
  const int count = static_cast<int>(own.count);
  for (int i = 0; i < count; ++i)
    if (const int l = own.first[i]; net.layers.first[l].is_concat && index.first[l] >= 0 && rules.joins_rows(l))
      joins.push_back(l);
  if (joins.empty()) return;
  meta::array<char> may(net.size());  // operands of those that no reader needs dense
  for (const int l : joins)
    for (const auto& e : net.into(l)) may.first[e.from] = 1;
  for (int i = 0; i < count; ++i)
    if (const int l = own.first[i]; index.first[l] >= 0)
      for (int k = reads.first[l], end = reads.first[l + 1]; k < end; ++k)
        if (const int t = reads.tensors[k]; may.first[t] && !rules.reads(l, t)) may.first[t] = 0;
  meta::array<char> holds(all.size());  // instances within which others lie
  for (int i = 0, end = all.size(); i < end; ++i)
    if (const int parent = all.first[i].parent; parent >= 0) holds.first[parent] = 1;
  for (const int l : joins) {
    auto& whole = all.first[index.first[l]];
    if (whole.parent >= 0 || whole.joined || !rules.writes(l)) continue;
    const auto& shape = net.layers.first[l].output;
    const auto row = tensor::storage{whole.layout}.row(shape[3]);
    std::int64_t at = 0;
    for (const auto& e : net.into(l)) {
      const auto rows = net.layers.first[e.from].output[2];
      auto& part = all.first[index.first[e.from]];
      if (may.first[e.from] && !part.received && part.parent < 0 && !holds.first[index.first[e.from]] &&
          part.layout == whole.layout && rules.writes(e.from) && !sent(e.from)) {
        part.parent = index.first[l];
        holds.first[index.first[l]] = 1;
        part.offset = at * row * shape.element_bytes();
        part.pitch = shape[2] * row;
      }
      at += rows;
    }
  }
}

}  // namespace dice::schedule
