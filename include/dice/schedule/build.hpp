// From a placement to all ranks' programs: one implementation for compile time and run time.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/alias.hpp"
#include "dice/schedule/arena.hpp"
#include "dice/schedule/borders.hpp"
#include "dice/schedule/embed.hpp"
#include "dice/schedule/network_pass.hpp"
#include "dice/schedule/plan_input.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::schedule {

namespace detail {

/// The second pass: rank by rank, its steps, buffers and places.
class builder : network_pass {
 public:
  constexpr explicit builder(const plan_input& in) : network_pass(in) {
    working_of_ = meta::array<int>(groups_.list.size(), -1);
    if (!in.parts.empty()) packed_ = meta::array<int>(n_, -1);
    operands_of_ = meta::array<operand_range>(groups_.list.size());
  }

  constexpr built_plan build() {
    plan_.in_flight = input_.in_flight;
    plan_.steps.reserve(n_ + 2 * plan_.messages.size());
    plan_.buffers.reserve(n_ + plan_.messages.size());
    plan_.operands.reserve(static_cast<int>(net_.edges.size()));
    plan_.segments.reserve(plan_.messages.size() + static_cast<int>(input_.devices.size()));
    plan_.groups = groups_.list;
    plan_.owner = meta::array<int>(n_);
    for (int l = 0; l < n_; ++l) plan_.owner.first[l] = input_.owner.first[l];
    for (const auto& r : input_.replicas) plan_.replicas.push_back(r);
    for (const auto& m : input_.members) plan_.members.push_back(m);
    for (const auto& d : input_.devices) add_rank(d.rank);
    return static_cast<built_plan&&>(plan_);
  }

 private:
  /// Lifetime of an instance's memory in this rank, in steps of the rank.
  struct life {
    int first = -1, last = -1;
    bool sent = false, received = false;
    constexpr void touch(int step) {
      if (first < 0 || step < first) first = step;
      if (last < step) last = step;
    }
    constexpr void join(const life& other) {
      if (other.first >= 0) {
        touch(other.first);
        touch(other.last);
      }
      sent |= other.sent;
      received |= other.received;
    }
  };

  constexpr void add_rank(int rank) {
    rank_program out{.rank = rank};
    out.first_step = plan_.steps.size();
    out.first_segment = plan_.segments.size();
    own_count_ = begin_.first[rank + 1] - begin_.first[rank];
    own_ = {layers_.first + begin_.first[rank], own_count_};
    list_instances(rank);
    list_steps(rank, out);
    find_lives(out);
    overwrite(out);
    list_buffers(out);
    settle(out);
    plan_.ranks.push_back(out);
  }

  constexpr void list_instances(int rank) {
    instances_ = {};
    instances_.reserve(static_cast<int>(own_.size()) + plan_.messages.size() / 2);
    index_ = meta::array<int>(n_, -1);
    const auto hold = [&](int l, bool received) {
      index_.first[l] = instances_.size();
      instances_.push_back({.layer = l,
                            .layout = layouts_.first[l],
                            .bytes = tensor::bytes(net_.layers.first[l].output, layouts_.first[l]),
                            .received = received});
    };
    for (int i = 0; i < own_count_; ++i) {
      const int l = own_.first[i];
      if (!visible_.first[l]) continue;
      for (int k = first_read_.first[l], end = first_read_.first[l + 1]; k < end; ++k)
        if (const int t = reads_.first[k]; index_.first[t] < 0) hold(t, input_.owner.first[t] != rank);
      if (index_.first[l] < 0) hold(l, false);
    }
    for (int k = 0, end = instances_.size(); k < end; ++k) {
      auto& i = instances_.first[k];
      if (!i.received) continue;
      if (const auto* d = delivered_.find(i.layer, rank); d && d->within >= 0) {
        i.parent = index_.first[d->within];
        i.offset = d->offset * net_.layers.first[i.layer].output.element_bytes();
      }
    }
    alias(net_, instances_, index_, own_);
    embed({net_, groups_, input_.algorithms, layouts_}, instances_, index_, own_,
          [&](int t) { return sent_.first[t] < sent_.first[t + 1]; }, {first_read_.first, reads_.first});
  }

  /// Lists what other ranks get from each layer of the rank by a cut that needs no other layer.
  constexpr void list_cuts() {
    first_cut_ = meta::array<int>(n_, -1);
    next_cut_ = meta::array<int>(n_, -1);
    emitted_ = meta::array<char>(n_);
    if (input_.parts.empty()) return;
    for (int k = own_count_ - 1; k >= 0; --k) {
      const int l = own_.first[k];
      if (input_.parts.first[l].what != parts::part::kind::cut || sent_.first[l] == sent_.first[l + 1]) continue;
      const int from = reads_.first[first_read_.first[l]];
      if (input_.owner.first[from] != input_.owner.first[l] || (turns_ && when(from) != when(l))) continue;
      if (converts_read_.first[first_read_.first[l]]) continue;  // a conversion reads all of it
      next_cut_.first[l] = first_cut_.first[from];
      first_cut_.first[from] = l;
    }
  }
  /// Adds the step that computes layer l, and those that convert what it reads and its result.
  constexpr void emit_converted(int l, int g) {
    const auto convert = [&](int t) {
      plan_.steps.push_back(
          {.what = action::convert, .layer = t, .group = g, .part = tensor::whole(net_.layers.first[t].output)});
    };
    const int first = first_read_.first[l], count = first_read_.first[l + 1] - first;
    for (int k = 0; k < count; ++k) {
      bool known = false;  // another operand is the same
      for (int i = 0; i < k; ++i)
        known = known || (reads_.first[first + i] == reads_.first[first + k] && converts_read_.first[first + i]);
      if (!known && converts_read_.first[first + k]) convert(reads_.first[first + k]);
    }
    plan_.steps.push_back(
        {.what = action::compute, .layer = l, .group = g, .part = tensor::whole(net_.layers.first[l].output)});
    if (converts_result_.first[l]) convert(l);
  }
  /// Where the result of cut c lies in that of its operand.
  constexpr tensor::region cut_of(int c) const {
    auto box = input_.parts[c].box;
    const auto& from = input_.parts.first[reads_.first[first_read_.first[c]]].box;
    for (int a = 0; a < tensor::region::axes; ++a) {
      box.begin[a] -= from.begin[a];
      box.end[a] -= from.begin[a];
    }
    return box;
  }
  /// Adds the step that computes layer l; or several, for its borders and then its interior, if other ranks get borders.
  constexpr void emit_computing(int l, int g, rank_program& out) {
    const auto whole = tensor::whole(net_.layers.first[l].output);
    const auto& block = input_.algorithms.first[groups_.list.first[g].anchor].block;
    if (converts_.first[l]) return emit_converted(l, g);
    if (first_cut_.first[l] < 0 || block[0] == 0 || net_.layers.first[l].output.rank != 4) {
      plan_.steps.push_back({.what = action::compute, .layer = l, .group = g, .part = whole});
      return;
    }
    const std::int64_t halved = groups_.list.first[g].pool >= 0 ? 2 : 1;
    borders in(net_.layers.first[l].output, (block[0] + halved - 1) / halved, (block[1] + halved - 1) / halved);
    for (int c = first_cut_.first[l]; c >= 0; c = next_cut_.first[c]) in.add(cut_of(c));
    meta::array<tensor::region> left;  // to compute, in reverse order
    in.each([&](const tensor::region& r) { left.insert(0, r); });
    while (!left.empty()) {
      plan_.steps.push_back({.what = action::compute, .layer = l, .group = g, .part = left[left.size() - 1]});
      left.truncate(left.size() - 1);
      for (int c = first_cut_.first[l]; c >= 0 && !left.empty(); c = next_cut_.first[c]) {
        bool ready = !emitted_.first[c];
        for (const auto& r : left) ready = ready && tensor::empty(tensor::intersect(r, cut_of(c)));
        if (ready) emit(c, out);
      }
    }
  }
  /// Whether another group of the rank packs the same weights as the one with anchor l: parts of a layer that differ only in
  /// rows and columns share a copy (runtime/weights_of.hpp).
  constexpr bool packed_before(int l) {
    if (input_.parts.empty()) return false;
    const auto& part = input_.parts.first[l];
    const int before = packed_.first[part.layer];
    packed_.first[part.layer] = l;
    if (before < 0 || input_.owner.first[before] != input_.owner.first[l]) return false;
    const auto &other = input_.parts.first[before].box, &own = part.box;
    const auto &how = input_.algorithms.first[before], &also = input_.algorithms.first[l];
    return input_.parts.first[before].what == part.what && input_.parts.first[before].from == part.from &&
           other.begin[1] == own.begin[1] && other.end[1] == own.end[1] && how.packed_bytes == also.packed_bytes &&
           how.variant == also.variant;
  }
  /// Adds the steps of layer l, whose operands are there.
  constexpr void emit(int l, rank_program& out) {
    const auto whole = tensor::whole(net_.layers.first[l].output);
    const int g = groups_.of_layer.first[l];
    if (net_.layers.first[l].is_input) {
      plan_.steps.push_back({.what = action::enter, .layer = l, .part = whole});
    } else if (net_.layers.first[l].is_output) {
      plan_.steps.push_back({.what = action::leave, .layer = l, .part = whole});
    } else if (g >= 0) {
      const int anchor = groups_.list.first[g].anchor;
      const auto packed = input_.algorithms.first[anchor].packed_bytes;
      if (packed == 0 || !packed_before(anchor))
        out.weight_bytes += packed ? packed : net_.layers.first[anchor].parameter_bytes;
      if (!instances_.first[index_.first[l]].joined) emit_computing(l, g, out);
    }
    for (int m = sent_.first[l]; m < sent_.first[l + 1]; ++m)
      plan_.steps.push_back({.what = action::send, .layer = l, .message = m, .part = whole});
    emitted_.first[l] = 1;
  }

  constexpr void list_steps(int rank, rank_program& out) {
    list_cuts();
    meta::array<char> arrived(n_);
    int begin = out.first_step;
    parts::turn now;  // of the segment at hand
    const auto cut = [&](parts::turn next) {
      if (plan_.steps.size() > begin) plan_.segments.push_back({begin, plan_.steps.size(), now});
      begin = plan_.steps.size();
      now = next;
    };
    const auto* layers = net_.layers.first;
    out.layers = own_count_;
    for (int i = 0; i < own_count_; ++i) {
      const int l = own_.first[i];
      out.macs += layers[l].macs;
      if (!visible_.first[l] || emitted_.first[l]) continue;
      bool fresh = true;
      for (int k = first_read_.first[l], end = first_read_.first[l + 1]; k < end; ++k) {
        const int t = reads_.first[k];
        if (input_.owner.first[t] == rank) continue;
        const int by = delivered_.brought_by(t, rank);
        if (arrived.first[by]) continue;
        const int m = message_to(by, rank);
        if (fresh || (turns_ && plan_.messages.first[m].read != now)) cut(plan_.messages.first[m].read);
        fresh = false;
        arrived.first[by] = 1;
        plan_.steps.push_back(
            {.what = action::receive, .layer = by, .message = m, .part = tensor::whole(layers[by].output)});
      }
      if (turns_ && when(l) != now) cut(when(l));
      emit(l, out);
    }
    cut({});
    out.last_step = plan_.steps.size();
    out.last_segment = plan_.segments.size();
  }

  /// The life of the memory that holds a tensor.
  constexpr life& life_at(int tensor) {
    int i = index_.first[tensor];
    while (instances_.first[i].parent >= 0) i = instances_.first[i].parent;
    return lives_.first[i];
  }

  constexpr void find_lives(const rank_program& out) {
    lives_ = meta::array<life>(instances_.size());
    for (int s = out.first_step; s < out.last_step; ++s) {
      const auto& step = plan_.steps.first[s];
      auto& own = life_at(step.layer);
      if (step.what != action::compute || !converts_result_.first[step.layer]) own.touch(s);  // else when it is converted
      if (step.what == action::receive) {
        own.touch(out.first_step);
        own.received = true;
      }  // posted ahead
      if (step.what == action::send) {
        own.touch(out.last_step - 1);
        own.sent = true;
      }  // may be done later
      if (step.what != action::compute) continue;
      for (int k = first_read_.first[step.layer], end = first_read_.first[step.layer + 1]; k < end; ++k)
        if (!converts_read_.first[k]) life_at(reads_.first[k]).touch(s);
    }
  }

  /// Lets a result reuse the memory of an operand that dies in the same step, where the operator allows it.
  constexpr void overwrite(const rank_program& out) {
    for (int s = out.first_step; s < out.last_step; ++s) {
      const auto& step = plan_.steps.first[s];
      if (step.what != action::compute) continue;
      const auto& anchor = net_.layers.first[plan_.groups.first[step.group].anchor];
      if (!anchor.in_place) continue;
      const int result = index_.first[step.layer];
      const auto from = find_root(instances_, index_.first[net_.edges.first[anchor.first_edge].from]);
      if (instances_.first[result].parent >= 0 || from.at == result || from.offset != 0 ||
          instances_.first[from.at].bytes != instances_.first[result].bytes ||
          instances_.first[from.at].layout != instances_.first[result].layout || lives_.first[from.at].last != s ||
          lives_.first[from.at].sent || lives_.first[result].first != s)  // a replica's result also comes by message
        continue;
      // The result is its own root: tensors that lie within it (views, joined tensors) move along.
      instances_.first[result].parent = from.at;
      instances_.first[result].offset = 0;
      lives_.first[from.at].join(lives_.first[result]);
      lives_.first[result] = {};
    }
  }

  constexpr void list_buffers(rank_program& out) {
    // Segment of each step, to find what lives within one segment.
    meta::array<int> segment_of(out.last_step - out.first_step);
    for (int i = out.first_segment; i < out.last_segment; ++i)
      for (int s = plan_.segments.first[i].first_step; s < plan_.segments.first[i].last_step; ++s)
        segment_of.first[s - out.first_step] = i;
    // Sort roots by first step (counting sort).
    const int steps = out.last_step - out.first_step;
    meta::array<int> begin(steps + 2);
    for (int i = 0, end = lives_.size(); i < end; ++i)
      if (const int at = lives_.first[i].first; at >= 0) ++begin.first[at - out.first_step + 1];
    for (int s = 0; s <= steps; ++s) begin.first[s + 1] += begin.first[s];
    meta::array<int> order(begin.first[steps + 1]), filled(steps + 1);
    for (int i = 0, end = lives_.size(); i < end; ++i)
      if (const int at = lives_.first[i].first; at >= 0) {
        const int s = at - out.first_step;
        order.first[begin.first[s] + filled.first[s]++] = i;
      }
    out.first_buffer = plan_.buffers.size();
    copies_ = {};
    buffer_of_ = meta::array<int>(instances_.size(), -1);
    scratch_of_ = meta::array<int>(steps, -1);
    for (int s = 0; s < steps; ++s) {
      for (int k = begin.first[s]; k < begin.first[s] + filled.first[s]; ++k) {
        const auto& l = lives_.first[order.first[k]];
        const bool local = !l.sent && !l.received &&
                           segment_of.first[l.first - out.first_step] == segment_of.first[l.last - out.first_step];
        buffer_of_.first[order.first[k]] = plan_.buffers.size();
        const auto& root = instances_.first[order.first[k]];
        plan_.buffers.push_back(
            {{local ? space::scratch : space::frame, root.layout, net_.layers.first[root.layer].output.element},
             root.bytes,
             l.first,
             l.last,
             root.layer});
      }
      const auto& step = plan_.steps.first[out.first_step + s];
      if (step.what == action::convert && groups_.list.first[step.group].output() != step.layer) {
        int end = s + 1;  // the step that computes the group
        while (plan_.steps.first[out.first_step + end].what == action::convert) ++end;
        add_copy(step.layer, out.first_step + s, out.first_step + end);
      }
      if (step.what != action::compute) continue;
      if (converts_result_.first[step.layer]) add_copy(step.layer, out.first_step + s, out.first_step + s + 1);
      if (auto& all = working_of_.first[step.group]; all >= 0) {  // of another region of the same result
        plan_.buffers.first[all].last_step = out.first_step + s;
        scratch_of_.first[s] = all;
      } else if (const auto bytes = input_.algorithms.first[groups_.list.first[step.group].anchor].scratch_bytes;
                 bytes > 0) {
        scratch_of_.first[s] = all = plan_.buffers.size();
        plan_.buffers.push_back({{}, aligned(bytes), out.first_step + s, out.first_step + s, -1});
      }
    }
    out.last_buffer = plan_.buffers.size();
    out.frame_bytes = lay_out(plan_.buffers, out, space::frame);
    out.scratch_bytes = lay_out(plan_.buffers, out, space::scratch);
  }

  /// Adds the buffer of a copy of tensor t, which has the other layout than t, from step `first` to step `last`.
  constexpr void add_copy(int t, int first, int last) {
    const auto& type = net_.layers.first[t].output;
    const auto other = layouts_.first[t] == tensor::layout::plain ? tensor::layout::blocked : tensor::layout::plain;
    copies_.push_back({first, last, plan_.buffers.size()});
    plan_.buffers.push_back({.at = {.layout = other, .element = type.element},
                             .bytes = tensor::bytes(type, other),
                             .first_step = first,
                             .last_step = last,
                             .layer = t,
                             .is_copy = true});
  }
  /// Where the copy of tensor t lies that step s reads or writes.
  constexpr const place& copy_at(int t, int s) const {
    int i = copies_.size() - 1;
    while (copies_.first[i].first > s || copies_.first[i].last < s ||
           plan_.buffers.first[copies_.first[i].buffer].layer != t)
      --i;
    return plan_.buffers.first[copies_.first[i].buffer].at;
  }

  /// Writes where a tensor lies. (A place as a result would be copied three times, which costs the compiler memory.)
  constexpr void put_place(int tensor, place& to) const {
    const auto* all = instances_.first;
    const int own = index_.first[tensor];
    int i = own;
    std::int64_t offset = 0;
    for (int parent = all[i].parent; parent >= 0; parent = all[i].parent) {
      offset += all[i].offset;
      i = parent;
    }
    const auto& at = plan_.buffers.first[buffer_of_.first[i]].at;
    to.where = at.where;
    to.offset = at.offset + offset;
    to.layout = layouts_.first[tensor];
    to.element = at.element;
    to.pitch = all[own].pitch;
  }
  constexpr void add_operand(int tensor) {
    plan_.operands.push_back({});
    put_place(tensor, plan_.operands.first[plan_.operands.size() - 1]);
  }

  /// Fills in the places in steps and messages, and the rank's totals.
  constexpr void settle(rank_program& out) {
    bool talks = false;
    for (int s = out.first_step; s < out.last_step; ++s) {
      auto& step = plan_.steps.first[s];
      switch (step.what) {
        case action::receive:
          put_place(step.layer, plan_.messages.first[step.message].at_receiver);
          talks = true;
          break;
        case action::send:
          put_place(step.layer, plan_.messages.first[step.message].at_sender);
          talks = true;
          break;
        case action::enter:
        case action::leave:
          put_place(step.layer, step.output);
          break;
        case action::convert: {
          const bool of_result = groups_.list.first[step.group].output() == step.layer;
          step.first_operand = plan_.operands.size(), step.operands = 1;
          if (of_result) {
            plan_.operands.push_back(copy_at(step.layer, s));
            put_place(step.layer, step.output);
          } else {
            add_operand(step.layer);
            step.output = copy_at(step.layer, s);
          }
          break;
        }
        case action::compute:
          if (converts_result_.first[step.layer]) step.output = copy_at(step.layer, s);
          else put_place(step.layer, step.output);
          if (auto& all = operands_of_.first[step.group]; all.count >= 0) {  // of another region of the same result
            step.first_operand = all.first;
            step.operands = all.count;
          } else {
            const int first = first_read_.first[step.layer], count = first_read_.first[step.layer + 1] - first;
            step.first_operand = plan_.operands.size();
            for (int k = 0; k < count; ++k) {
              const int t = reads_.first[first + k];
              if (converts_read_.first[first + k]) plan_.operands.push_back(copy_at(t, s));
              else add_operand(t);
            }
            step.operands = plan_.operands.size() - step.first_operand;
            all = {step.first_operand, step.operands};
          }
          if (scratch_of_.first[s - out.first_step] >= 0)
            step.scratch = plan_.buffers.first[scratch_of_.first[s - out.first_step]].at;
          break;
      }
    }
    // One segment: a frame arrives, one is computed, one leaves. Several: frames wait for other ranks in between. Between
    // two frames of a replica there are those of the others.
    const int segments = out.last_segment - out.first_segment;
    const bool waits = segments > 1 || (segments == 1 && !plan_.segments.first[out.first_segment].when.always());
    out.slots = !talks ? 1 : waits ? input_.in_flight : std::min(3, input_.in_flight);
    out.arena_bytes = out.slots * out.frame_bytes + out.scratch_bytes;
    out.peak_bytes = out.weight_bytes + out.arena_bytes;
  }

  struct operand_range {
    int first = 0, count = -1;
  };
  struct copy {
    int first = 0, last = 0;  ///< steps
    int buffer = -1;
  };
  meta::array<int> working_of_;             ///< by group: the buffer of its working memory, or -1
  meta::array<operand_range> operands_of_;  ///< by group: in plan_.operands
  meta::array<int> packed_;                 ///< by layer of the whole network: the last anchor that packs its weights, or -1
  // Of the rank being built:
  meta::view<int> own_;  ///< its layers
  int own_count_ = 0;
  meta::array<instance> instances_;
  meta::array<int> index_;  ///< instance of each layer's output, or -1
  meta::array<life> lives_;
  meta::array<int> buffer_of_, scratch_of_;
  meta::array<copy> copies_;
  meta::array<int> first_cut_, next_cut_;  ///< by layer: a cut of it, another one of the same layer
  meta::array<char> emitted_;              ///< layers whose steps are there
};

}  // namespace detail

/// The plan of a valid placement (every layer on one of the devices, ranks dense and in order).
constexpr built_plan build(const plan_input& in) { return detail::builder(in).build(); }

}  // namespace dice::schedule
