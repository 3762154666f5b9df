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
#include "dice/schedule/built_plan.hpp"
#include "dice/schedule/deliveries.hpp"
#include "dice/schedule/embed.hpp"
#include "dice/schedule/fuse.hpp"
#include "dice/schedule/layouts.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::schedule {

namespace detail {

/// Builds a plan rank by rank.
class builder {
 public:
  constexpr explicit builder(const plan_input& in) : input_(in), net_(in.net), n_(in.net.size()), uses_(n_) {
    for (const auto& e : net_.edges) ++uses_[e.from];
    groups_ = fuse(net_, in.owner, in.algorithms, uses_, [&](int a, int b) { return in.when(a) == in.when(b); });
    layouts_ = choose_layouts(net_, groups_, in.algorithms);
    list_layers();
    delivered_ = deliveries(in, layouts_, list_reads());
    link_messages();
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
    for (int l = 0; l < n_; ++l) plan_.owner[l] = input_.owner[l];
    for (const auto& r : input_.replicas) plan_.replicas.push_back(r);
    for (const auto& m : input_.members) plan_.members.push_back(m);
    for (const auto& d : input_.devices) add_rank(d.rank);
    return static_cast<built_plan&&>(plan_);
  }

 private:
  /// Whether layer l is the result of a step (not inside a fusion group).
  constexpr bool visible(int l) const { return groups_.of_layer[l] < 0 || groups_.list[groups_.of_layer[l]].output() == l; }

  /// Calls f(t) for every tensor t that the step of layer l reads: the group's operands in the kernel's order.
  template <class F> constexpr void each_operand(int l, F f) const {
    const int g = groups_.of_layer[l];
    const int anchor = g < 0 ? l : groups_.list[g].anchor;
    for (const auto& e : net_.into(anchor)) f(e.from);
    if (g >= 0 && groups_.list[g].residual >= 0)
      f(net_.into(groups_.list[g].residual)[groups_.list[g].residual_operand].from);
  }

  /// What the steps read, in the order of the layers.
  constexpr meta::array<read> list_reads() const {
    meta::array<read> out;
    out.reserve(static_cast<int>(net_.edges.size()));
    for (int l = 0; l < n_; ++l)
      if (visible(l)) each_operand(l, [&](int t) { out.push_back({l, t}); });
    return out;
  }

  /// Sorts the layers by rank.
  constexpr void list_layers() {
    const int ranks = static_cast<int>(input_.devices.size());
    begin_ = meta::array<int>(ranks + 1);
    for (const int rank : input_.owner) ++begin_[rank + 1];
    for (int r = 0; r < ranks; ++r) begin_[r + 1] += begin_[r];
    layers_ = meta::array<int>(n_);
    meta::array<int> filled(ranks);
    for (int l = 0; l < n_; ++l) {
      const int rank = input_.owner[l];
      layers_[begin_[rank] + filled[rank]++] = l;
    }
  }

  /// One message for each delivery of its own; a tensor's messages are consecutive, from `sent_[tensor]` on.
  constexpr void link_messages() {
    const int ranks = static_cast<int>(input_.devices.size());
    meta::array<int> pair_tags(ranks * ranks);
    sent_ = meta::array<int>(n_ + 1);
    for (int t = 0; t < n_; ++t) {
      sent_[t] = plan_.messages.size();
      for (const auto& d : delivered_.of(t)) {
        if (d.within >= 0) continue;
        const int to = d.to, from = input_.owner[t];
        plan_.messages.push_back({.from = from,
                                  .to = to,
                                  .tag = ++pair_tags[from * ranks + to],
                                  .layer = t,
                                  .part = tensor::whole(net_.layers[t].output),
                                  .bytes = tensor::bytes(net_.layers[t].output, layouts_[t]),
                                  .at_sender = {},
                                  .at_receiver = {},
                                  .made = input_.when(t),
                                  .read = d.read});
      }
    }
    sent_[n_] = plan_.messages.size();
  }

  constexpr int message_to(int tensor, int rank) const {
    for (int m = sent_[tensor]; m < sent_[tensor + 1]; ++m)
      if (plan_.messages[m].to == rank) return m;
    return -1;
  }

  /// Lifetime of an instance's memory in this rank, in steps of the rank.
  struct life {
    int first = -1, last = -1;
    bool sent = false, received = false;
    constexpr void touch(int step) {
      if (first < 0 || step < first) first = step;
      last = std::max(last, step);
    }
    constexpr void join(const life& other) {
      if (other.first >= 0) touch(other.first), touch(other.last);
      sent |= other.sent, received |= other.received;
    }
  };

  constexpr void add_rank(int rank) {
    rank_program out{.rank = rank};
    out.first_step = plan_.steps.size();
    out.first_segment = plan_.segments.size();
    own_ = {layers_.data() + begin_[rank], static_cast<std::size_t>(begin_[rank + 1] - begin_[rank])};
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
      if (index_[l] >= 0) return;
      index_[l] = instances_.size();
      instances_.push_back({.layer = l,
                            .layout = layouts_[l],
                            .bytes = tensor::bytes(net_.layers[l].output, layouts_[l]),
                            .received = received});
    };
    for (const int l : own_)
      if (visible(l)) {
        each_operand(l, [&](int t) { hold(t, input_.owner[t] != rank); });
        hold(l, false);
      }
    for (auto& i : instances_)
      if (const auto* d = i.received ? delivered_.find(i.layer, rank) : nullptr; d && d->within >= 0)
        i.parent = index_[d->within], i.offset = d->offset * tensor::element_bytes;
    alias(net_, instances_, index_, own_);
    embed(
        {net_, groups_, input_.algorithms, layouts_}, instances_, index_, own_,
        [&](int t) { return sent_[t] < sent_[t + 1]; }, [&](int l, auto f) { each_operand(l, f); });
  }

  /// Lists what other ranks get from each layer of the rank by a cut, for which no other layer is needed.
  constexpr void list_cuts() {
    first_cut_ = meta::array<int>(n_, -1), next_cut_ = meta::array<int>(n_, -1), emitted_ = meta::array<char>(n_);
    if (input_.parts.empty()) return;
    for (int k = static_cast<int>(own_.size()) - 1; k >= 0; --k) {
      const int l = own_[k];
      if (input_.parts[l].what != parts::part::kind::cut || sent_[l] == sent_[l + 1]) continue;
      const int from = net_.into(l)[0].from;
      if (input_.owner[from] != input_.owner[l] || input_.when(from) != input_.when(l)) continue;
      next_cut_[l] = first_cut_[from], first_cut_[from] = l;
    }
  }
  /// Whether the step of layer l converts tensors.
  constexpr bool converts(int l) const {
    return working_bytes(l) > aligned(input_.algorithms[groups_.list[groups_.of_layer[l]].anchor].scratch_bytes);
  }
  /// Where the result of cut c lies in that of its operand.
  constexpr tensor::region cut_of(int c) const {
    auto box = input_.parts[c].box;
    const auto& from = input_.parts[net_.into(c)[0].from].box;
    for (int a = 0; a < tensor::region::axes; ++a) box.begin[a] -= from.begin[a], box.end[a] -= from.begin[a];
    return box;
  }
  /// Adds the step that computes layer l; or several, for its borders and then its interior, if other ranks get borders.
  constexpr void emit_computing(int l, int g, rank_program& out) {
    const auto whole = tensor::whole(net_.layers[l].output);
    const auto& block = input_.algorithms[groups_.list[g].anchor].block;
    if (first_cut_[l] < 0 || block[0] == 0 || net_.layers[l].output.rank != 4 || converts(l)) {
      plan_.steps.push_back({.what = action::compute, .layer = l, .group = g, .part = whole});
      return;
    }
    const auto unit = [&](int k) {
      const std::int64_t n = block[static_cast<std::size_t>(k)];
      return groups_.list[g].pool >= 0 ? (n + 1) / 2 : n;
    };
    borders in(net_.layers[l].output, unit(0), unit(1));
    for (int c = first_cut_[l]; c >= 0; c = next_cut_[c]) in.add(cut_of(c));
    meta::array<tensor::region> left;  // to compute, in reverse order
    in.each([&](const tensor::region& r) { left.insert(0, r); });
    while (!left.empty()) {
      plan_.steps.push_back({.what = action::compute, .layer = l, .group = g, .part = left[left.size() - 1]});
      left.truncate(left.size() - 1);
      for (int c = first_cut_[l]; c >= 0 && !left.empty(); c = next_cut_[c]) {
        bool ready = !emitted_[c];
        for (const auto& r : left) ready = ready && tensor::empty(tensor::intersect(r, cut_of(c)));
        if (ready) emit(c, out);
      }
    }
  }
  /// Whether another group of the rank packs the same weights as that of anchor l: parts of a layer that differ in rows and
  /// columns only have one copy (runtime/weights_of.hpp).
  constexpr bool packed_before(int l) {
    if (input_.parts.empty()) return false;
    const auto& part = input_.parts[l];
    const int before = packed_[part.layer];
    packed_[part.layer] = l;
    if (before < 0 || input_.owner[before] != input_.owner[l]) return false;
    const auto &other = input_.parts[before].box, &own = part.box;
    const auto &how = input_.algorithms[before], &also = input_.algorithms[l];
    return input_.parts[before].what == part.what && input_.parts[before].from == part.from &&
           other.begin[1] == own.begin[1] && other.end[1] == own.end[1] && how.packed_bytes == also.packed_bytes &&
           how.variant == also.variant;
  }
  /// Adds the steps of layer l, whose operands are there.
  constexpr void emit(int l, rank_program& out) {
    const auto whole = tensor::whole(net_.layers[l].output);
    const int g = groups_.of_layer[l];
    if (net_.layers[l].is_input) {
      plan_.steps.push_back({.what = action::enter, .layer = l, .part = whole});
    } else if (net_.layers[l].is_output) {
      plan_.steps.push_back({.what = action::leave, .layer = l, .part = whole});
    } else if (g >= 0) {
      const int anchor = groups_.list[g].anchor;
      const auto packed = input_.algorithms[anchor].packed_bytes;
      if (packed == 0 || !packed_before(anchor)) out.weight_bytes += packed ? packed : net_.layers[anchor].parameter_bytes;
      if (!instances_[index_[l]].joined) emit_computing(l, g, out);
    }
    for (int m = sent_[l]; m < sent_[l + 1]; ++m)
      plan_.steps.push_back({.what = action::send, .layer = l, .message = m, .part = whole});
    emitted_[l] = 1;
  }

  constexpr void list_steps(int rank, rank_program& out) {
    list_cuts();
    meta::array<char> arrived(n_);
    int begin = out.first_step;
    parts::turn when;  // of the segment at hand
    const auto cut = [&](parts::turn next) {
      if (plan_.steps.size() > begin) plan_.segments.push_back({begin, plan_.steps.size(), when});
      begin = plan_.steps.size(), when = next;
    };
    out.layers = static_cast<int>(own_.size());
    for (const int l : own_) {
      out.macs += net_.layers[l].macs;
      if (!visible(l)) continue;
      if (emitted_[l]) continue;
      const auto own = input_.when(l);
      bool fresh = true;
      each_operand(l, [&](int t) {
        if (input_.owner[t] == rank) return;
        const int by = delivered_.brought_by(t, rank);
        if (arrived[by]) return;
        const int m = message_to(by, rank);
        if (fresh || plan_.messages[m].read != when) cut(plan_.messages[m].read);
        fresh = false;
        arrived[by] = 1;
        plan_.steps.push_back(
            {.what = action::receive, .layer = by, .message = m, .part = tensor::whole(net_.layers[by].output)});
      });
      if (own != when) cut(own);
      emit(l, out);
    }
    cut({});
    out.last_step = plan_.steps.size();
    out.last_segment = plan_.segments.size();
  }

  constexpr life& life_at(int tensor) { return lives_[find_root(instances_, index_[tensor]).at]; }

  constexpr void find_lives(const rank_program& out) {
    lives_ = meta::array<life>(instances_.size());
    for (int s = out.first_step; s < out.last_step; ++s) {
      const auto& step = plan_.steps[s];
      auto& own = life_at(step.layer);
      own.touch(s);
      if (step.what == action::receive) own.touch(out.first_step), own.received = true;  // posted ahead
      if (step.what == action::send) own.touch(out.last_step - 1), own.sent = true;      // may be done later
      if (step.what == action::compute) each_operand(step.layer, [&](int t) { life_at(t).touch(s); });
    }
  }

  /// Lets a result reuse the memory of an operand that dies in the same step, where the operator allows it.
  constexpr void overwrite(const rank_program& out) {
    for (int s = out.first_step; s < out.last_step; ++s) {
      const auto& step = plan_.steps[s];
      if (step.what != action::compute || !net_.layers[plan_.groups[step.group].anchor].in_place) continue;
      const int result = index_[step.layer];
      const auto from = find_root(instances_, index_[net_.into(plan_.groups[step.group].anchor)[0].from]);
      if (instances_[result].parent >= 0 || from.at == result || from.offset != 0 ||
          instances_[from.at].bytes != instances_[result].bytes || instances_[from.at].layout != instances_[result].layout ||
          lives_[from.at].last != s || lives_[from.at].sent)
        continue;
      // The result is its own root: tensors that lie within it (views, joined tensors) move along.
      instances_[result].parent = from.at;
      instances_[result].offset = 0;
      lives_[from.at].join(lives_[result]);
      lives_[result] = {};
    }
  }

  constexpr void list_buffers(rank_program& out) {
    // Segment of each step, to find what lives within one segment.
    meta::array<int> segment_of(out.last_step - out.first_step);
    for (int i = out.first_segment; i < out.last_segment; ++i)
      for (int s = plan_.segments[i].first_step; s < plan_.segments[i].last_step; ++s) segment_of[s - out.first_step] = i;
    // Sort roots by first step (counting sort).
    const int steps = out.last_step - out.first_step;
    meta::array<int> begin(steps + 2);
    for (const auto& l : lives_)
      if (l.first >= 0) ++begin[l.first - out.first_step + 1];
    for (int s = 0; s <= steps; ++s) begin[s + 1] += begin[s];
    meta::array<int> order(begin[steps + 1]), filled(steps + 1);
    for (int i = 0; i < lives_.size(); ++i)
      if (lives_[i].first >= 0) {
        const int s = lives_[i].first - out.first_step;
        order[begin[s] + filled[s]++] = i;
      }
    out.first_buffer = plan_.buffers.size();
    buffer_of_ = meta::array<int>(instances_.size(), -1);
    scratch_of_ = meta::array<int>(steps, -1);
    for (int s = 0; s < steps; ++s) {
      for (int k = begin[s]; k < begin[s] + filled[s]; ++k) {
        const auto& l = lives_[order[k]];
        const bool local =
            !l.sent && !l.received && segment_of[l.first - out.first_step] == segment_of[l.last - out.first_step];
        buffer_of_[order[k]] = plan_.buffers.size();
        const auto& root = instances_[order[k]];
        plan_.buffers.push_back({{local ? space::scratch : space::frame, 0, root.layout},
                                 root.bytes,
                                 l.first,
                                 l.last,
                                 root.layer,
                                 tensor::whole(net_.layers[root.layer].output)});
      }
      const auto& step = plan_.steps[out.first_step + s];
      if (step.what != action::compute) continue;
      if (auto& all = working_of_[step.group]; all >= 0) {  // of another region of the same result
        plan_.buffers[all].last_step = out.first_step + s;
        scratch_of_[s] = all;
      } else if (const auto bytes = working_bytes(step.layer); bytes > 0) {
        scratch_of_[s] = all = plan_.buffers.size();
        plan_.buffers.push_back({{}, bytes, out.first_step + s, out.first_step + s, -1, {}});
      }
    }
    out.last_buffer = plan_.buffers.size();
    out.frame_bytes = lay_out(plan_.buffers, out, space::frame);
    out.scratch_bytes = lay_out(plan_.buffers, out, space::scratch);
  }

  /// Scratch bytes of the kernel whose result is layer l: its own, then the converted operands and the converted result.
  constexpr std::int64_t working_bytes(int l) const {
    const auto& how = input_.algorithms[groups_.list[groups_.of_layer[l]].anchor];
    std::int64_t bytes = aligned(how.scratch_bytes);
    if (!how.converts) return bytes;
    const auto held = [&](int t, tensor::layout as) {
      bytes += algorithm::converted_bytes(net_.layers[t].output, layouts_[t], as);
    };
    const int operands = net_.layers[groups_.list[groups_.of_layer[l]].anchor].edges;
    int k = 0;
    each_operand(l, [&](int t) { held(t, k++ < operands ? how.reads(layouts_[l]) : how.writes(layouts_[l])); });
    held(l, how.writes(layouts_[l]));
    return bytes;
  }

  constexpr place place_of(int tensor) const {
    const auto r = find_root(instances_, index_[tensor]);
    place p = plan_.buffers[buffer_of_[r.at]].at;
    p.offset += r.offset;
    p.layout = layouts_[tensor];
    p.pitch = instances_[index_[tensor]].pitch;
    return p;
  }

  /// Fills in the places in steps and messages, and the rank's totals.
  constexpr void settle(rank_program& out) {
    bool talks = false;
    for (int s = out.first_step; s < out.last_step; ++s) {
      auto& step = plan_.steps[s];
      switch (step.what) {
        case action::receive:
          plan_.messages[step.message].at_receiver = place_of(step.layer), talks = true;
          break;
        case action::send:
          plan_.messages[step.message].at_sender = place_of(step.layer), talks = true;
          break;
        case action::enter:
        case action::leave:
          step.output = place_of(step.layer);
          break;
        case action::compute:
          step.output = place_of(step.layer);
          if (auto& all = operands_of_[step.group]; all.count >= 0) {  // of another region of the same result
            step.first_operand = all.first, step.operands = all.count;
          } else {
            step.first_operand = plan_.operands.size();
            each_operand(step.layer, [&](int t) { plan_.operands.push_back(place_of(t)); });
            step.operands = plan_.operands.size() - step.first_operand;
            all = {step.first_operand, step.operands};
          }
          if (scratch_of_[s - out.first_step] >= 0) step.scratch = plan_.buffers[scratch_of_[s - out.first_step]].at;
          break;
      }
    }
    // One segment: a frame arrives, one is computed, one leaves. Several: frames wait for other ranks in between. Between
    // two frames of a replica there are those of the others.
    const int segments = out.last_segment - out.first_segment;
    const bool waits = segments > 1 || (segments == 1 && !plan_.segments[out.first_segment].when.always());
    out.slots = !talks ? 1 : waits ? input_.in_flight : std::min(3, input_.in_flight);
    out.arena_bytes = out.slots * out.frame_bytes + out.scratch_bytes;
    out.peak_bytes = out.weight_bytes + out.arena_bytes;
  }

  const plan_input& input_;
  const graph::network_view& net_;
  int n_;
  meta::array<int> uses_;
  fusion_groups groups_;
  meta::array<tensor::layout> layouts_;  ///< of each layer's output
  deliveries delivered_;
  meta::array<int> sent_;            ///< first message of each tensor
  meta::array<int> layers_, begin_;  ///< layers by rank, and the first one of each rank
  struct operand_range {
    int first = 0, count = -1;
  };
  meta::array<int> working_of_;             ///< by group: the buffer of its working memory, or -1
  meta::array<operand_range> operands_of_;  ///< by group: in plan_.operands
  meta::array<int> packed_;                 ///< by layer of the whole network: the last anchor that packs its weights, or -1
  built_plan plan_;
  // Of the rank being built:
  meta::view<int> own_;  ///< its layers
  meta::array<instance> instances_;
  meta::array<int> index_;  ///< instance of each layer's output, or -1
  meta::array<life> lives_;
  meta::array<int> buffer_of_, scratch_of_;
  meta::array<int> first_cut_, next_cut_;  ///< by layer: a cut of it, another one of the same layer
  meta::array<char> emitted_;              ///< layers whose steps are there
};

}  // namespace detail

/// The plan of a valid placement (every layer on one of the devices, ranks dense and in order).
constexpr built_plan build(const plan_input& in) { return detail::builder(in).build(); }

}  // namespace dice::schedule
