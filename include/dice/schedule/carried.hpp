// Tensors that reach a rank within a Concat that it also reads, instead of by a message of their own.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dice::schedule {

namespace detail {

/// Whether a tensor lies in one piece within the result of layer c.
constexpr bool joins_any(const graph::network_view& net, int c) {
  const auto& layer = net.layers.first[c];
  for (int e = layer.first_edge, end = e + layer.edges; e < end; ++e)
    if (net.edges.first[e].joins >= 0) return true;
  return false;
}

template <class F>
constexpr void each_joined_once(const graph::network_view& net, int c, const F& f, std::int64_t offset,
                                meta::array<char>& seen) {
  for (const auto& e : net.into(c)) {
    if (e.joins < 0 || std::exchange(seen[e.from], char{1})) continue;
    f(e.from, offset + e.joins);
    each_joined_once(net, e.from, f, offset + e.joins, seen);
  }
}

}  // namespace detail

/// Calls f(t, offset) for each tensor t that lies in one piece within the result of Concat c, also through Concats of
/// Concats, once: `offset` counts elements of plain tensors, and is that of the first of its places. Other operators have no
/// such tensors.
template <class F> constexpr void each_joined(const graph::network_view& net, int c, const F& f) {
  if (!detail::joins_any(net, c)) return;
  meta::array<char> seen(net.size());
  detail::each_joined_once(net, c, f, 0, seen);
}

/// Whether tensor t lies at `offset` within c in layout `as`, too: whole blocks of channels do.
constexpr bool keeps_place(const graph::network_view& net, int t, int c, std::int64_t offset, tensor::layout as) {
  const auto &part = net.layers[t].output, &whole = net.layers[c].output;
  return as == tensor::layout::plain ||
         (tensor::bytes(part, as) == part.bytes() && offset % (tensor::block * whole.product(2, whole.rank)) == 0);
}

/// Calls f(t, m, offset) for each tensor t of another rank that rank `rank` gets within message m, `offset` elements from
/// its beginning: the message of the first Concat that contains t, unless t has a message itself.
template <class F> constexpr void each_carried(const plan_view& p, const graph::network_view& net, int rank, const F& f) {
  const int messages = static_cast<int>(p.messages.count);
  bool any = false;
  for (int m = 0; m < messages && !any; ++m)
    any = p.messages.first[m].to == rank && detail::joins_any(net, p.messages.first[m].layer);
  if (!any) return;
  meta::array<int> message_of(net.size(), -1);
  for (int m = 0; m < messages; ++m)
    if (p.messages.first[m].to == rank) message_of.first[p.messages.first[m].layer] = m;
  meta::array<char> found(net.size());
  for (int c = 0; c < net.size(); ++c)
    if (const int m = message_of.first[c]; m >= 0)
      each_joined(net, c, [&](int t, std::int64_t offset) {
        if (p.owner[t] == rank || message_of.first[t] >= 0 || found[t]) return;
        found[t] = 1;
        if (keeps_place(net, t, c, offset, p.messages.first[m].at_receiver.layout)) f(t, m, offset);
      });
}

/// Calls f(t, first, end, times) for each tensor t that crosses cuts first + 1 … end between layers: `times` is 1, or -1
/// where it crosses within a Concat and was counted before. `position[l]`: layer l comes behind cut position[l]; it grows
/// with l.
template <class F> constexpr void each_crossing(const graph::network_view& net, meta::view<int> position, const F& f) {
  meta::array<int> last(net.size(), -1);  // position of the last reader
  for (const auto& e : net.edges) last[e.from] = std::max(last[e.from], position[e.to]);
  meta::array<int> joined(net.size(), -1);  // the last cut that the tensor crosses within a Concat
  for (int l = 0; l < net.size(); ++l) {
    if (last[l] <= position[l]) continue;
    f(l, position[l], last[l], 1);
    each_joined(net, l, [&](int t, std::int64_t) {
      const int first = std::max(position[l], joined[t]), end = std::min(last[t], last[l]);
      if (first < end) f(t, first, end, -1);
      joined[t] = std::max(joined[t], last[l]);
    });
  }
}

}  // namespace dice::schedule
