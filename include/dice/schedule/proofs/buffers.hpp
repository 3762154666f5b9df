// A plan's buffers hold its tensors.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/schedule/arena.hpp"
#include "dice/schedule/program.hpp"
#include "dice/schedule/proofs/reads.hpp"

#include <cstdint>
#include <limits>

namespace dice::schedule {

/// Buffers alive at the same step of a rank do not overlap and lie within its arena; each is large enough for its tensor;
/// what outlives a segment lies in the frame's block.
constexpr bool buffers_disjoint(const plan_view& p, const graph::network_view& net) {
  for (const auto& r : p.ranks) {
    for (const auto where : {space::frame, space::scratch}) {
      // Checked one by one, independently of live_blocks. Buffers that live to the end of the rank, like all that are sent,
      // are kept as intervals, and neighbours merge. Buffers that live from its beginning, like all that are received, are
      // kept by address, as long as each lies behind those before it.
      meta::array<int> live;
      struct interval {
        std::int64_t from, to;
      };
      meta::array<interval> taken;
      meta::array<int> early;
      meta::array<std::int64_t> early_end;
      std::int64_t behind = 0;
      const auto limit = where == space::frame ? r.frame_bytes : r.scratch_bytes;
      int before = r.first_step;
      for (int b = r.first_buffer; b < r.last_buffer; ++b) {
        const auto& buf = p.buffers.first[b];
        if (buf.at.where != where) continue;
        if (buf.first_step < before || buf.last_step < buf.first_step || buf.last_step >= r.last_step) return false;
        if (buf.at.offset < 0 || buf.at.offset % alignment || buf.bytes < 0 || buf.at.offset + buf.bytes > limit)
          return false;
        if (buf.layer >= 0 && buf.bytes < tensor::bytes(net.layers.first[buf.layer].output, buf.at.stored())) return false;
        before = buf.first_step;
        const auto from = buf.at.offset, to = from + buf.bytes;
        int kept = 0;
        for (int i = 0, end = live.size(); i < end; ++i) {
          const auto& other = p.buffers.first[live.first[i]];
          if (other.last_step < buf.first_step) continue;
          if (other.at.offset < to && from < other.at.offset + other.bytes) return false;
          live.first[kept++] = live.first[i];
        }
        live.truncate(kept);
        for (int i = 0, end = taken.size(); i < end; ++i)
          if (taken.first[i].from < to && from < taken.first[i].to) return false;
        if (const int end = early.size(); from < behind) {
          int first = 0;
          for (int after = end; first < after;)
            if (const int middle = (first + after) / 2; early_end.first[middle] <= from) first = middle + 1;
            else after = middle;
          for (; first < end; ++first) {
            const auto& other = p.buffers.first[early.first[first]];
            if (other.at.offset >= to) break;
            if (other.last_step >= buf.first_step) return false;
          }
        }
        if (buf.first_step == r.first_step && from >= behind) {
          early.push_back(b);
          early_end.push_back(to);
          behind = to;
          continue;
        }
        if (buf.last_step + 1 < r.last_step) {
          live.push_back(b);
          continue;
        }
        interval merged{from, aligned(to)};
        kept = 0;
        for (const auto& t : taken)
          if (t.to == merged.from) merged.from = t.from;
          else if (t.from == merged.to) merged.to = t.to;
          else taken.first[kept++] = t;
        taken.truncate(kept);
        taken.push_back(merged);
      }
    }
    int segment = r.first_segment;
    for (int b = r.first_buffer; b < r.last_buffer; ++b) {
      const auto& buf = p.buffers.first[b];
      while (segment < r.last_segment && p.segments.first[segment].last_step <= buf.first_step) ++segment;
      if (buf.at.where == space::scratch && buf.last_step >= p.segments.first[segment].last_step) return false;
    }
  }
  return true;
}

namespace detail {

/// Notes the operands of a Concat of rows at `to` that lie there already, as bands of its rows.
constexpr void note_bands(const plan_view& p, const graph::network_view& net, const step& s, meta::array<char>& in_place) {
  const auto& g = p.groups.first[s.group];
  if (!net.layers.first[g.anchor].is_concat) return;
  const auto& whole = net.layers.first[g.anchor].output;
  const auto row = s.output.stored().row(whole[3]);
  std::int64_t at = 0;
  int k = s.first_operand;
  for (const auto& e : net.into(g.anchor)) {
    place band = s.output;
    band.offset += at * row * whole.element_bytes();
    band.pitch = whole[2] * row;
    if (p.operands.first[k++] == band) in_place.first[e.from] = 1;
    at += net.layers.first[e.from].output[2];
  }
}

}  // namespace detail

/// Every tensor lies in a buffer of its rank from the step that writes it to the last that reads it, and so does the working
/// memory of a layer until its last region is computed. A tensor written as a band of rows lies in the rows that a Concat
/// gives it.
constexpr bool places_in_buffers(const plan_view& p, const graph::network_view& net) {
  meta::array<char> in_place(net.size());
  for (const auto& s : p.steps)
    if (s.what == action::compute) detail::note_bands(p, net, s, in_place);
  meta::array<int> working(static_cast<int>(p.groups.size()), -1);  // by group: its working memory
  for (const auto& r : p.ranks) {
    meta::array<int> own(net.size(), -1);  // by tensor: its buffer
    meta::array<int> live;                 // and perhaps some that were
    int next = r.first_buffer;
    for (int s = r.first_step; s < r.last_step; ++s) {
      for (; next < r.last_buffer && p.buffers.first[next].first_step <= s; ++next) {
        live.push_back(next);
        if (const int l = p.buffers.first[next].layer; l >= 0 && p.buffers.first[next].is_copy) continue;
        else if (l >= 0) own.first[l] = next;
        else if (p.steps.first[s].what != action::compute) return false;
        else working.first[p.steps.first[s].group] = next;
      }
      const auto holds = [&](int b, int l, const place& at) {
        const auto& buf = p.buffers.first[b];
        return buf.last_step >= s && buf.at.where == at.where && buf.at.offset <= at.offset &&
               at.offset + tensor::bytes(net.layers.first[l].output, at.stored()) <= buf.at.offset + buf.bytes;
      };
      const auto lies = [&](int l, const place& at) {
        if (own.first[l] >= 0 && holds(own.first[l], l, at)) return true;
        for (int k = live.size() - 1; k >= 0; --k) {
          if (const auto& buf = p.buffers.first[live.first[k]];
              holds(live.first[k], l, at) && (buf.is_copy ? buf.layer == l : own.first[l] < 0))
            return true;
          if (p.buffers.first[live.first[k]].last_step < s) {
            live.first[k] = live.first[live.size() - 1];
            live.truncate(live.size() - 1);
          }
        }
        return false;
      };
      const auto& step = p.steps.first[s];
      if (!detail::reads_all(p, net, step, lies)) return false;
      if (step.what == action::receive && !lies(step.layer, p.messages.first[step.message].at_receiver)) return false;
      if (step.what == action::convert && !lies(step.layer, p.operands.first[step.first_operand])) return false;
      if (step.what == action::enter || step.what == action::compute || step.what == action::convert) {
        if (!lies(step.layer, step.output) || (step.output.pitch != 0 && !in_place.first[step.layer])) return false;
      }
      if (const int b = step.what == action::compute ? working.first[step.group] : -1; b >= 0)
        if (p.buffers.first[b].at != step.scratch || p.buffers.first[b].last_step < s) return false;
    }
  }
  return true;
}

}  // namespace dice::schedule
