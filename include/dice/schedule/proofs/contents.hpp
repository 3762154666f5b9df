// Tensors that share a buffer do not overwrite each other too early.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/program.hpp"
#include "dice/schedule/proofs/reads.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dice::schedule {

namespace detail {

/// A tensor that a rank writes, or a copy of it in another layout: from its first write, or from the beginning of the frame
/// if it is received, to its last read.
struct content {
  int tensor, first, last;
  place at;
  int buffer = -1;
  bool is_copy = false;
};

/// Whether two tensors have no byte in common: in rows of one larger tensor, each has its own.
constexpr bool apart(const content& a, const content& b, const graph::network_view& net) {
  const auto end = [&](const content& c) {
    return c.at.offset + tensor::bytes(net.layers.first[c.tensor].output, c.at.stored());
  };
  if (a.at.where != b.at.where || end(a) <= b.at.offset || end(b) <= a.at.offset) return true;
  if (a.at.pitch == 0 || a.at.stored() != b.at.stored()) return false;
  const auto element = tensor::size_of(a.at.element), pitch = a.at.pitch * element;
  const auto wide = [&](const content& c) {
    const auto& s = net.layers.first[c.tensor].output;
    return c.at.stored().row(s[2] * s[3]) * element;
  };
  const auto behind = ((b.at.offset - a.at.offset) % pitch + pitch) % pitch;  // from a's rows to the next of b
  return behind >= wide(a) && behind + wide(b) <= pitch;
}

/// The buffer of a rank that holds `c` when it is written, or -1. `roots`: by tensor, the buffer that is named after it.
constexpr int buffer_of(const content& c, const plan_view& p, const rank_program& r, const graph::network_view& net,
                        const meta::array<int>& roots) {
  if (roots.first[c.tensor] >= 0 && !c.is_copy) return roots.first[c.tensor];
  const auto end = c.at.offset + tensor::bytes(net.layers.first[c.tensor].output, c.at.stored());
  for (int b = r.first_buffer; b < r.last_buffer && p.buffers.first[b].first_step <= c.first; ++b) {
    const auto& buf = p.buffers.first[b];
    if (buf.last_step >= c.first && buf.at.where == c.at.where && buf.at.offset <= c.at.offset &&
        end <= buf.at.offset + buf.bytes)
      return b;
  }
  return -1;
}

/// Extends the life of what tensor l consists of to step s; `done`: by tensor, the last step for which it was.
constexpr void read(int l, int s, const meta::array<int>& written, meta::array<content>& all, meta::array<int>& done,
                    const graph::network_view& net) {
  if (const int c = written.first[l]; c >= 0) {
    all.first[c].last = std::max(all.first[c].last, s);
    return;
  }
  if (std::exchange(done.first[l], s) == s) return;
  for (const auto& e : net.into(l)) read(e.from, s, written, all, done, net);
}

/// Whether tensor t at `at` is what lies there in tensor l at `is`: an operand of Concats, also as a band of rows, or of
/// views.
constexpr bool is_within(int t, const place& at, int l, const place& is, const graph::network_view& net) {
  if (l == t && is == at) return true;
  const auto& layer = net.layers.first[l];
  if (at.offset < is.offset || at.offset >= is.offset + tensor::bytes(layer.output, is.stored())) return false;
  const auto row = is.stored().row(layer.output[3]), element = tensor::size_of(is.element);
  std::int64_t rows = 0;
  for (const auto& e : net.into(l)) {
    auto own = is;
    if (layer.view >= 0) own.offset -= layer.view * element;
    else if (e.joins >= 0) own.offset += e.joins * element;
    else if (layer.is_concat && is.pitch == 0) {
      own.offset += rows * row * element;
      own.pitch = layer.output[2] * row;
    } else return false;
    rows += net.layers.first[e.from].output[2];
    if (is_within(t, at, e.from, own, net)) return true;
  }
  return false;
}

/// Whether all of tensor t at `at` is what lies there in tensor l at `is`: t itself, or its operands if it is a Concat.
constexpr bool has_all_of(int t, const place& at, int l, const place& is, const graph::network_view& net) {
  if (is_within(t, at, l, is, net)) return true;
  const auto operands = net.into(t);
  for (const auto& e : operands) {
    auto own = at;
    own.offset += e.joins * tensor::size_of(at.element);
    if (e.joins < 0 || at.pitch != 0 || !has_all_of(e.from, own, l, is, net)) return false;
  }
  return operands.count > 0;
}

/// Whether the step that writes `c` may write over `before`, which it reads for the last time: it works in place.
constexpr bool takes_over(const content& before, const content& c, const plan_view& p, const graph::network_view& net) {
  const auto& step = p.steps.first[c.first];
  if (before.last != c.first || step.what != action::compute || step.layer != c.tensor) return false;
  const auto& anchor = net.layers.first[p.groups.first[step.group].anchor];
  return anchor.in_place && p.operands.first[step.first_operand] == step.output &&
         is_within(before.tensor, before.at, net.edges.first[anchor.first_edge].from, step.output, net);
}

}  // namespace detail

/// No tensor is overwritten before its last reader: of those that share a buffer, one is read for the last time before the
/// next is written or received; a receive may write at any time. Tensors of two replicas of a set are never in the same
/// frame. Buffers are compared by buffers_disjoint.
constexpr bool kept_until_read(const plan_view& p, const graph::network_view& net, meta::view<parts::part> all = {}) {
  const auto never_together = [&](int a, int b) {
    if (all.empty()) return false;
    const auto &x = all.first[a].when, &y = all.first[b].when;
    return !x.always() && x.set == y.set && x.member != y.member;
  };
  for (const auto& r : p.ranks) {
    meta::array<int> written(net.size(), -1), roots(net.size(), -1), done(net.size(), -1);
    meta::array<int> copied(r.last_step - r.first_step, -1);  // by step: the copy that it makes, or converts to the result
    meta::array<detail::content> list;
    for (int b = r.first_buffer; b < r.last_buffer; ++b)
      if (const int l = p.buffers.first[b].layer; l >= 0 && !p.buffers.first[b].is_copy) roots.first[l] = b;
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const bool received = step.what == action::receive, converts = step.what == action::convert;
      const bool of_result = detail::converts_result(p, step);
      const bool is_copy = (converts && !of_result) || (step.what == action::compute && s + 1 < r.last_step &&
                                                        detail::converts_result(p, p.steps.first[s + 1]));
      if (!received && !converts && step.what != action::compute && step.what != action::enter) continue;
      if (is_copy) copied.first[s - r.first_step] = list.size();
      else if (written.first[step.layer] >= 0) continue;
      else written.first[step.layer] = list.size();
      list.push_back({.tensor = step.layer,
                      .first = received ? r.first_step : s,
                      .last = is_copy && !converts ? s + 1 : s,
                      .at = received ? p.messages.first[step.message].at_receiver : step.output,
                      .is_copy = is_copy});
      auto& c = list.first[list.size() - 1];
      c.buffer = detail::buffer_of(c, p, r, net, roots);
    }
    each_carried(p, net, r.rank,
                 [&](int t, int m, std::int64_t) { written.first[t] = written.first[p.messages.first[m].layer]; });
    meta::array<int> copy_of(net.size(), -1);  // by tensor: its last copy
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const int at = step.what == action::send ? r.last_step - 1 : s;
      detail::reads_all(p, net, step, [&](int l, const place& from) {
        if (const int c = copy_of.first[l]; c >= 0 && step.what == action::compute && list.first[c].at == from)
          list.first[c].last = s;
        else detail::read(l, at, written, list, done, net);
        return true;
      });
      if (step.what == action::convert && copied.first[s - r.first_step] >= 0)
        copy_of.first[step.layer] = copied.first[s - r.first_step];
    }
    meta::array<int> last_in(r.last_buffer - r.first_buffer, -1), before(list.size(), -1);  // by buffer: its tensors, linked
    for (int i = 0; i < list.size(); ++i) {
      const auto& c = list.first[i];
      if (c.buffer < 0) return false;
      auto& last = last_in.first[c.buffer - r.first_buffer];
      for (int k = last; k >= 0; k = before.first[k]) {
        const auto& other = list.first[k];
        if (other.last < c.first || detail::apart(other, c, net) || never_together(other.tensor, c.tensor) ||
            detail::takes_over(other, c, p, net) || detail::has_all_of(other.tensor, other.at, c.tensor, c.at, net) ||
            detail::has_all_of(c.tensor, c.at, other.tensor, other.at, net))
          continue;
        return false;
      }
      before.first[i] = last;
      last = i;
    }
  }
  return true;
}

}  // namespace dice::schedule
