// What the steps of a plan read, and where it was written.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/schedule/layouts.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::schedule {

namespace detail {

/// The step of a rank that completes tensor l: the one that writes it or, for a view or a Concat joined in place, the last
/// one that writes an operand; `never` if some part is not written. `written[l]` is the writing step or -1, and caches the
/// result.
inline constexpr int never = std::numeric_limits<int>::max();
constexpr int completed(int l, meta::array<int>& written, const graph::network_view& net) {
  if (written.first[l] >= 0) return written.first[l];
  const auto& layer = net.layers.first[l];
  int last = layer.edges == 0 ? never : 0;
  for (int e = layer.first_edge, end = e + layer.edges; e < end; ++e)
    last = std::max(last, completed(net.edges.first[e].from, written, net));
  return written.first[l] = last;
}

/// Whether a step converts the result of its group, which the step before it computes, and not an operand.
constexpr bool converts_result(const plan_view& p, const step& s) {
  return s.what == action::convert && p.groups.first[s.group].output() == s.layer;
}

/// Whether f(l, place) holds for every tensor l that a step reads, sends or outputs, with the place that the step states.
/// The conversion of a result belongs to the step that computes it.
template <class F> constexpr bool reads_all(const plan_view& p, const graph::network_view& net, const step& s, F f) {
  if (s.what == action::send) return f(s.layer, p.messages.first[s.message].at_sender);
  const auto* edges = net.edges.first;
  if (s.what == action::leave) return f(edges[net.layers.first[s.layer].first_edge].from, s.output);
  if (s.what == action::convert) return converts_result(p, s) || f(s.layer, p.operands.first[s.first_operand]);
  if (s.what != action::compute) return true;
  const auto& g = p.groups.first[s.group];
  const auto& anchor = net.layers.first[g.anchor];
  const int first = anchor.first_edge, count = anchor.edges;
  const auto* operands = p.operands.first + s.first_operand;
  for (int k = 0; k < count; ++k)
    if (!f(edges[first + k].from, operands[k])) return false;
  return g.residual < 0 || f(edges[net.layers.first[g.residual].first_edge + g.residual_operand].from, operands[count]);
}

/// Where tensor l is written on a rank: `at[l]`, or its offset is `unknown` if no step writes l. Then l is a view or a
/// Concat joined in place and lies where its operands do, `nowhere` if they do not match; `at[l]` caches the result.
inline constexpr std::int64_t unknown = -1, nowhere = -2;
constexpr place written_at(int l, meta::array<place>& at, const graph::network_view& net) {
  if (at.first[l].offset != unknown) return at.first[l];
  at.first[l].offset = nowhere;
  const auto& layer = net.layers.first[l];
  const auto block = tensor::block * layer.output.product(2, layer.output.rank);
  place out = at.first[l];
  for (const auto& e : net.into(l)) {
    const bool view = layer.view >= 0;
    place by_operand = written_at(e.from, at, net);
    if (by_operand.offset < 0 || (!view && e.joins < 0)) return at.first[l];
    if (by_operand.layout == tensor::layout::blocked && !(view ? keeps_blocks(net, l) : e.joins % block == 0))
      return at.first[l];
    by_operand.offset += (view ? layer.view : -e.joins) * layer.output.element_bytes();
    if (out.offset != nowhere && out != by_operand) return at.first[l];
    out = by_operand;
  }
  return at.first[l] = out;
}

}  // namespace detail

}  // namespace dice::schedule
