// Properties of every valid plan, checked on its values only: at compile time for a mapping, at run time in tests and
// searches.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/arena.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/layouts.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::schedule {

/// Every message is sent by one step of its sender and received by one step of its receiver, in one layout, dense and with
/// its tensor's size. Tags are positive and unique for each sender and receiver.
constexpr bool messages_match(const plan_view& p, const graph::network_view& net) {
  const int n = static_cast<int>(p.messages.size()), ranks = static_cast<int>(p.ranks.size());
  meta::array<int> sends(n), receives(n);
  meta::array<int> tags(ranks * ranks);  // messages of a pair come with tags 1, 2, 3, …
  for (int m = 0; m < n; ++m) {
    const auto& msg = p.messages.first[m];
    if (msg.from == msg.to || msg.from < 0 || msg.to < 0 || msg.from >= ranks || msg.to >= ranks || msg.bytes <= 0)
      return false;
    if (msg.tag != ++tags.first[msg.from * ranks + msg.to] || p.owner.first[msg.layer] != msg.from) return false;
    const auto& shape = net.layers.first[msg.layer].output;
    if (msg.part != tensor::whole(shape) || msg.bytes != tensor::bytes(shape, msg.at_sender.stored)) return false;
    if (msg.at_sender.stored != msg.at_receiver.stored || msg.at_sender.stored.pitch != 0) return false;
    if (msg.at_sender.where != space::frame || msg.at_receiver.where != space::frame) return false;
  }
  for (const auto& r : p.ranks)
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      if (step.what == action::send) {
        if (p.messages.first[step.message].from != r.rank || p.messages.first[step.message].layer != step.layer)
          return false;
        ++sends.first[step.message];
      } else if (step.what == action::receive) {
        if (p.messages.first[step.message].to != r.rank || p.messages.first[step.message].layer != step.layer) return false;
        ++receives.first[step.message];
      }
    }
  for (int m = 0; m < n; ++m)
    if (sends.first[m] != 1 || receives.first[m] != 1) return false;
  return true;
}

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

/// Whether f(l, place) holds for every tensor l that a step reads, sends or outputs, with the place that the step states.
template <class F> constexpr bool reads_all(const plan_view& p, const graph::network_view& net, const step& s, F f) {
  if (s.what == action::send) return f(s.layer, p.messages.first[s.message].at_sender);
  const auto* edges = net.edges.first;
  if (s.what == action::leave) return f(edges[net.layers.first[s.layer].first_edge].from, s.output);
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
    if (by_operand.stored.layout == tensor::layout::blocked && !(view ? keeps_blocks(net, l) : e.joins % block == 0))
      return at.first[l];
    by_operand.offset += (view ? layer.view : -e.joins) * layer.output.element_bytes();
    if (out.offset != nowhere && out != by_operand) return at.first[l];
    out = by_operand;
  }
  return at.first[l] = out;
}

}  // namespace detail

namespace detail {

/// Whether a step may compute its region of the result: the region lies in the result, and a layer that may overwrite its
/// operand is computed at once.
constexpr bool may_compute(const plan_view& p, const graph::network_view& net, const step& s) {
  const auto whole = tensor::whole(net.layers.first[s.layer].output);
  return s.part == whole || (tensor::contains(whole, s.part) && !net.layers.first[p.groups.first[s.group].anchor].in_place);
}

/// The steps that compute one tensor region by region.
class regions {
 public:
  constexpr explicit regions(const plan_view& p) : plan_(p), before_(static_cast<int>(p.steps.count), -1) {}

  /// Step s computes what step `before` and those before it did not; -1: it is the first.
  constexpr void add(int s, int before) { before_.first[s] = before; }
  /// Whether the regions of the steps up to s are disjoint and cover `box` of a tensor of shape `of`.
  constexpr bool cover(int s, const tensor::region& box, const tensor::shape& of) const {
    if (before_.first[s] < 0 && plan_.steps.first[s].part == box) return true;
    std::int64_t covered = 0;
    for (int i = s; i >= 0; i = before_.first[i]) {
      const auto& region = plan_.steps.first[i].part;
      for (int j = before_.first[i]; j >= 0; j = before_.first[j])
        if (!tensor::empty(tensor::intersect(region, plan_.steps.first[j].part))) return false;
      if (const auto common = tensor::intersect(region, box); !tensor::empty(common))
        covered += tensor::elements(common, of);
    }
    return covered == tensor::elements(box, of);
  }
  /// The last of the steps up to s that comes before step `end`, or -1.
  constexpr int last_before(int end, int s) const {
    while (s >= end) s = before_.first[s];
    return s;
  }

 private:
  const plan_view& plan_;
  meta::array<int> before_;  ///< by step: the one before of the same tensor, or -1
};

}  // namespace detail

/// Everything that a step reads, sends or outputs was complete on its rank before: received, entered or computed there. A
/// cut only needs the region that it cuts out; `all`: the parts, if it is a network of parts.
constexpr bool reads_follow_writes(const plan_view& p, const graph::network_view& net, meta::view<parts::part> all = {}) {
  const int n = net.size();
  meta::array<int> written(n);
  detail::regions computed(p);
  for (const auto& r : p.ranks) {
    for (int l = 0; l < n; ++l) written.first[l] = p.owner.first[l] == r.rank ? -1 : detail::never;
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      auto& last = written.first[step.layer];
      if (step.what == action::compute) {
        if (last == detail::never || !detail::may_compute(p, net, step)) return false;
        computed.add(s, last);
      }
      if (step.what == action::compute || step.what == action::receive || step.what == action::enter) last = s;
    }
    for (int s = r.first_step; s < r.last_step; ++s) {  // all of a tensor is computed
      const auto& step = p.steps.first[s];
      const auto& shape = net.layers.first[step.layer].output;
      if (step.what == action::compute && written.first[step.layer] == s && !computed.cover(s, tensor::whole(shape), shape))
        return false;
    }
    each_carried(p, net, r.rank,
                 [&](int t, int m, std::int64_t) { written.first[t] = written.first[p.messages.first[m].layer]; });
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto ready = [&](int l, const place&) {
        int at = written.first[l];
        if (at < 0) at = detail::completed(l, written, net);
        if (at < s) return true;
        if (all.empty() || at == detail::never || step.what != action::compute ||
            all.first[step.layer].what != parts::part::kind::cut)
          return false;
        const auto& last = p.steps.first[at];
        if (last.what != action::compute || last.layer != l) return false;
        at = computed.last_before(s, at);
        auto box = all.first[step.layer].box;
        const auto& from = all.first[l].box;
        for (int a = 0; a < tensor::region::axes; ++a) box.begin[a] -= from.begin[a], box.end[a] -= from.begin[a];
        return at >= 0 && computed.cover(at, box, net.layers.first[l].output);
      };
      if (!detail::reads_all(p, net, step, ready)) return false;
    }
  }
  return true;
}

/// Every step reads, sends or outputs a tensor at the place and in the layout in which its rank wrote it: a view within its
/// operand, a Concat joined in place where its operands lie one after the other.
constexpr bool places_match(const plan_view& p, const graph::network_view& net) {
  const int n = net.size();
  const place none{.offset = detail::unknown};
  meta::array<place> at(n);
  meta::array<int> carrier;  // by tensor: the message that has it, if any message has others than its own
  meta::array<std::int64_t> within;
  for (const auto& r : p.ranks) {
    for (int l = 0; l < n; ++l) at.first[l] = none;
    for (int t = 0; t < carrier.size(); ++t) carrier.first[t] = -1;
    each_carried(p, net, r.rank, [&](int t, int m, std::int64_t offset) {
      if (carrier.empty()) carrier = meta::array<int>(n, -1), within = meta::array<std::int64_t>(n, 0);
      carrier.first[t] = m, within.first[t] = offset;
    });
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto matches = [&](int l, const place& from) {
        const auto& is = at.first[l];
        return is.offset == detail::unknown ? from == detail::written_at(l, at, net) : from == is;
      };
      if (!detail::reads_all(p, net, step, matches)) return false;
      if (step.what == action::receive) {
        at.first[step.layer] = p.messages.first[step.message].at_receiver;
        if (carrier.empty()) continue;
        each_joined(net, step.layer, [&](int t, std::int64_t) {
          if (carrier.first[t] != step.message) return;
          at.first[t] = at.first[step.layer];
          at.first[t].offset += within.first[t] * net.layers.first[t].output.element_bytes();
        });
      }
      if (step.what != action::enter && step.what != action::compute) continue;
      auto& is = at.first[step.layer];
      if (is.offset >= 0 && is != step.output) return false;  // another region lies elsewhere
      if (step.output.stored.element != net.layers.first[step.layer].output.element) return false;
      is = step.output;
    }
  }
  return true;
}

/// Buffers alive at the same step of a rank do not overlap and lie within its arena; each is large enough for its tensor;
/// what outlives a segment lies in the frame's block.
constexpr bool buffers_disjoint(const plan_view& p, const graph::network_view& net) {
  for (const auto& r : p.ranks) {
    for (const auto where : {space::frame, space::scratch}) {
      // Checked one by one, independently of live_blocks. What lives to the end of the rank, as all that is sent does, is
      // kept as intervals, into which neighbours merge. What lives from its beginning, as all that is received does, is
      // kept by address, as long as each of these lies behind those before it.
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
        if (buf.layer >= 0 && buf.bytes < tensor::bytes(net.layers.first[buf.layer].output, buf.at.stored)) return false;
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
          early.push_back(b), early_end.push_back(to);
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
  const auto row = s.output.stored.row(whole[3]);
  std::int64_t at = 0;
  int k = s.first_operand;
  for (const auto& e : net.into(g.anchor)) {
    place band = s.output;
    band.offset += at * row * whole.element_bytes();
    band.stored.pitch = whole[2] * row;
    if (p.operands.first[k++] == band) in_place.first[e.from] = 1;
    at += net.layers.first[e.from].output[2];
  }
}

}  // namespace detail

/// Every tensor lies in a buffer of its rank, from when it is written to each step that reads it, and so does the working
/// memory of a layer until its last region is computed. What is written as a band of rows lies in the rows that a Concat
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
        if (const int l = p.buffers.first[next].layer; l >= 0) own.first[l] = next;
        else if (p.steps.first[s].what != action::compute) return false;
        else working.first[p.steps.first[s].group] = next;
      }
      const auto holds = [&](int b, int l, const place& at) {
        const auto& buf = p.buffers.first[b];
        return buf.last_step >= s && buf.at.where == at.where && buf.at.offset <= at.offset &&
               at.offset + tensor::bytes(net.layers.first[l].output, at.stored) <= buf.at.offset + buf.bytes;
      };
      const auto lies = [&](int l, const place& at) {
        if (own.first[l] >= 0) return holds(own.first[l], l, at);
        for (int k = live.size() - 1; k >= 0; --k) {
          if (holds(live.first[k], l, at)) return true;
          if (p.buffers.first[live.first[k]].last_step < s)
            live.first[k] = live.first[live.size() - 1], live.truncate(live.size() - 1);
        }
        return false;
      };
      const auto& step = p.steps.first[s];
      if (!detail::reads_all(p, net, step, lies)) return false;
      if (step.what == action::receive && !lies(step.layer, p.messages.first[step.message].at_receiver)) return false;
      if (step.what == action::enter || step.what == action::compute) {
        if (!lies(step.layer, step.output) || (step.output.stored.pitch != 0 && !in_place.first[step.layer])) return false;
      }
      if (const int b = step.what == action::compute ? working.first[step.group] : -1; b >= 0)
        if (p.buffers.first[b].at != step.scratch || p.buffers.first[b].last_step < s) return false;
    }
  }
  return true;
}

/// No cycle of waits, whatever the number of frames. Within one frame, a segment waits for the previous segment of its rank
/// and for those that send its messages: this graph must have no cycle. Between frames, a segment waits only for older
/// frames: for itself, for its rank's slot (held by a frame `slots` older) and for the window (`in_flight` older). So the
/// oldest frame under way can always proceed, given at least one slot and one frame in flight.
constexpr bool no_wait_cycle(const plan_view& p) {
  if (p.in_flight < 1) return false;
  for (const auto& r : p.ranks)
    if (r.slots < 1) return false;
  const int segments = static_cast<int>(p.segments.size()), messages = static_cast<int>(p.messages.size());
  meta::array<int> receiver(messages, -1);  // segment that receives each message
  meta::array<int> waits(segments);         // number of waits left for each segment
  for (const auto& r : p.ranks)
    for (int g = r.first_segment; g < r.last_segment; ++g) {
      waits.first[g] += g > r.first_segment;
      for (int s = p.segments.first[g].first_step; s < p.segments.first[g].last_step; ++s)
        if (p.steps.first[s].what == action::receive) receiver.first[p.steps.first[s].message] = g, ++waits.first[g];
    }
  meta::array<char> ends_rank(segments);
  for (const auto& r : p.ranks)
    if (r.last_segment > r.first_segment) ends_rank.first[r.last_segment - 1] = 1;
  // Kahn's topological order.
  meta::array<int> ready;
  ready.reserve(segments);
  for (int g = 0; g < segments; ++g)
    if (waits.first[g] == 0) ready.push_back(g);
  for (int i = 0; i < ready.size(); ++i) {
    const int g = ready.first[i];
    const auto release = [&](int other) {
      if (--waits.first[other] == 0) ready.push_back(other);
    };
    for (int s = p.segments.first[g].first_step; s < p.segments.first[g].last_step; ++s)
      if (p.steps.first[s].what == action::send) {
        if (receiver.first[p.steps.first[s].message] < 0) return false;
        release(receiver.first[p.steps.first[s].message]);
      }
    if (!ends_rank.first[g]) release(g + 1);
  }
  return ready.size() == segments;
}

/// With replicas: each step runs for the frames for which its tensors are made and wanted. A layer that is computed for some
/// frames only reads what is made for these or for all; a layer that reads what replicas have made picks from all of them,
/// in memory that holds nothing else.
constexpr bool turns_match(const plan_view& p, const parts::parts_view& all) {
  if (p.replicas.empty()) return true;
  const auto& net = all.net;
  const auto when = [&](int l) { return all.parts[l].when; };
  const auto suits = [](const parts::turn& made, const parts::turn& read) { return made.always() || made == read; };
  meta::array<int> message_of(net.size() * static_cast<int>(p.ranks.size()), -1);  // by tensor and receiver
  for (int m = 0; m < static_cast<int>(p.messages.size()); ++m) {
    const auto& msg = p.messages.first[m];
    if (msg.made != when(msg.layer)) return false;
    message_of[msg.layer * static_cast<int>(p.ranks.size()) + msg.to] = m;
  }
  for (const auto& r : p.ranks)
    each_carried(p, net, r.rank,
                 [&](int t, int m, std::int64_t) { message_of[t * static_cast<int>(p.ranks.size()) + r.rank] = m; });
  for (int l = 0; l < net.size(); ++l) {
    const auto& layer = net.layers.first[l];
    if (!when(l).always() && (layer.is_input || layer.is_output)) return false;
    if (!when(l).always() && (when(l).set >= static_cast<int>(p.replicas.size()) || when(l).member < 0 ||
                              when(l).member >= p.replicas[when(l).set].members))
      return false;
    if (!when(l).always() && all.is_own(l) &&
        p.members[p.replicas[when(l).set].first + when(l).member].rank != p.owner.first[l])
      return false;
    const bool picks = all.parts[l].what == parts::part::kind::pick;
    if (picks && (layer.view != 0 || layer.edges < 2)) return false;
    int k = 0;
    for (const auto& e : net.into(l)) {
      const auto made = when(e.from);
      const bool own = p.owner.first[e.from] == p.owner.first[l];
      const int m = own ? -1 : message_of[e.from * static_cast<int>(p.ranks.size()) + p.owner.first[l]];
      if (!own && (m < 0 || !suits(p.messages.first[m].read, when(l)) || p.messages.first[m].made != made)) return false;
      if (!picks && !suits(made, when(l))) return false;
      if (picks && (made.always() || made.set != when(net.into(l)[0].from).set || made.member != k ||
                    layer.edges != p.replicas[made.set].members))
        return false;
      if (picks && own && (net.layers.first[e.from].view >= 0 || net.layers.first[e.from].is_concat)) return false;
      ++k;
    }
  }
  for (const auto& g : p.segments)
    for (int s = g.first_step; s < g.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto frames = step.what == action::receive ? p.messages.first[step.message].read : when(step.layer);
      if (frames != g.when) return false;
    }
  for (const auto& g : p.groups)
    for (const int l : g.layers())
      if (l >= 0 && when(l) != when(g.anchor)) return false;
  return true;
}

}  // namespace dice::schedule
