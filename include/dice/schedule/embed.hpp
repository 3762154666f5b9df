// Parts that are computed where they are put together: as bands of rows of a larger tensor.
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
    const int g = groups.of_layer[t];
    return g >= 0 && groups.list[g].output() == t ? &groups.list[g] : nullptr;
  }
  /// Whether the kernel whose result is layer l can read operand t where it is a band.
  constexpr bool reads(int l, int t) const {
    const auto* g = maker(l);
    if (!g) return false;
    const auto& how = algorithms[g->anchor];
    const auto& shape = net.layers[t].output;
    for (const auto& e : net.into(g->anchor))
      if (e.from == t && !how.reads_pitched(shape, layouts[t], layouts[l])) return false;
    return g->residual < 0 || net.into(g->residual)[g->residual_operand].from != t ||
           how.adds_pitched(shape, layouts[t], layouts[l]);
  }
  /// Whether the kernel that computes t can write it as a band.
  constexpr bool writes(int t) const {
    const auto* g = maker(t);
    return g && algorithms[g->anchor].writes_pitched(net.layers[t].output, layouts[t]);
  }
  /// Whether layer l puts rows of images together.
  constexpr bool joins_rows(int l) const {
    const auto& whole = net.layers[l].output;
    if (!net.layers[l].is_concat || net.layers[l].edges < 2 || whole.rank != 4 || !maker(l)) return false;
    std::int64_t rows = 0;
    for (const auto& e : net.into(l)) {
      const auto& part = net.layers[e.from].output;
      for (const int a : {0, 1, 3})
        if (part[a] != whole[a]) return false;
      rows += part[2];
    }
    return rows == whole[2];
  }
};

/// Places the operands of the rank's Concats of rows within their results, where the kernels that write and read them can:
/// the Concat then copies only the others. `own`: the rank's layers; `sent(t)`: whether tensor t is sent;
/// `each_operand(l, f)` calls f(t) for what the step of layer l reads.
template <class Sent, class Operands>
constexpr void embed(const band_rules& rules, meta::array<instance>& all, const meta::array<int>& index, meta::view<int> own,
                     const Sent& sent, const Operands& each_operand) {
  const auto& net = rules.net;
  meta::array<int> joins;
  for (const int l : own)
    if (index[l] >= 0 && rules.joins_rows(l)) joins.push_back(l);
  if (joins.empty()) return;
  meta::array<char> may(net.size());  // operands of those that no reader needs dense
  for (const int l : joins)
    for (const auto& e : net.into(l)) may[e.from] = 1;
  for (const int l : own)
    if (index[l] >= 0)
      each_operand(l, [&](int t) {
        if (may[t] && !rules.reads(l, t)) may[t] = 0;
      });
  meta::array<char> holds(all.size());  // instances within which others lie
  for (const auto& i : all)
    if (i.parent >= 0) holds[i.parent] = 1;
  for (const int l : joins) {
    auto& whole = all[index[l]];
    if (whole.parent >= 0 || whole.joined || !rules.writes(l)) continue;
    const auto& shape = net.layers[l].output;
    const auto row = (whole.layout == tensor::layout::blocked ? tensor::block : 1) * shape[3];
    std::int64_t at = 0;
    for (const auto& e : net.into(l)) {
      const auto rows = net.layers[e.from].output[2];
      auto& part = all[index[e.from]];
      if (may[e.from] && !part.received && part.parent < 0 && !holds[index[e.from]] && part.layout == whole.layout &&
          rules.writes(e.from) && !sent(e.from)) {
        part.parent = index[l], holds[index[l]] = 1;
        part.offset = at * row * tensor::element_bytes;
        part.pitch = shape[2] * row;
      }
      at += rows;
    }
  }
}

}  // namespace dice::schedule
