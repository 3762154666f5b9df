// What arrangements cost: the time of each cut unit on each device, and what moves between devices where one follows
// another.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/cost/arrangement.hpp"
#include "dice/cost/part_time.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/algorithms.hpp"
#include "dice/parts/planned.hpp"
#include "dice/placement/assignment.hpp"
#include "dice/placement/check_parts.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/tensor/region.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::cost {

namespace detail {

/// A network whose layers are all in one arrangement, as parts::plan_parts reads it.
template <class Operators> struct arranged_input {
  graph::network_view net;
  Operators operators;
  placement::assignment where;
  const arrangement& by;
  meta::array<algorithm::choice> algorithms;  ///< of parts, by layer and device

  constexpr bool is_split(int layer) const { return where.of(layer).has_parts(); }
  constexpr bool has_replicas(int layer) const { return where.of(layer).has_replicas(); }
  constexpr const algorithm::choice& algorithm_of(int layer, int rank) const {
    return algorithms[layer * by.devices.size() + rank];
  }
};

}  // namespace detail

/// The parts and costs of a network all of whose cut units are in one arrangement, as far as they can be.
struct arranged {
  meta::array<char> possible;         ///< by cut unit
  meta::array<double> seconds;        ///< s, by cut unit and device of the arrangement, for a frame that it computes
  meta::array<std::int64_t> weights;  ///< bytes, likewise
  meta::array<std::int64_t> live;     ///< bytes of tensors and working memory while it is computed, likewise
  meta::array<parts::planned> parts;  ///< by layer; empty for whole layers
  meta::array<int> first;             ///< by layer, and the end: its first part
  meta::array<tensor::region> needs;  ///< by tensor and device: what it reads there
  /// s, by cut unit and device: how long before the end it can send what others read if they stay in this arrangement,
  /// because borders are computed first (schedule/borders.hpp).
  meta::array<double> lead;
};

/// Arrangements of a network's cut units with their costs. Refers to all that it is made from. A template, so that only
/// programs that search compile it.
template <class Operators = meta::view<graph::any_operator>> class arranged_network {
 public:
  /// A larger part of a cut unit's result is not computed before the rest.
  static constexpr double largest_border = 0.67;

  /// `whole_only`: layers that must not be split, by layer; may be empty. `inputs`, `outputs`: the hosts of the network's
  /// inputs and outputs; -1: any.
  constexpr arranged_network(const setting& on, const problem& p, Operators operators, const meta::array<arrangement>& all,
                             meta::view<char> whole_only = {}, int inputs = -1, int outputs = -1)
      : on_(on), p_(p), operators_(operators), all_(all), whole_only_(whole_only), inputs_(inputs), outputs_(outputs) {
    find_units();
    find_live();
    costs_.reserve(all.size());
    for (int a = 0; a < all.size(); ++a) {
      costs_.push_back(costs_of(all[a]));
      find_leads(a);
    }
  }

  constexpr const problem& devices() const { return p_; }
  constexpr int size() const { return all_.size(); }
  constexpr const arrangement& operator[](int a) const { return all_[a]; }
  constexpr const arranged& of(int a) const { return costs_[a]; }
  constexpr bool possible(int a, int cut_unit) const { return costs_[a].possible[cut_unit]; }
  constexpr double seconds(int a, int cut_unit, int i) const {
    return costs_[a].seconds[cut_unit * all_[a].devices.size() + i];
  }

  /// What moves before `cut_unit`, which is in arrangement `to`, if the one before is in arrangement `from`: all tensors
  /// that cross the cut if these differ, else those that the one before made. A tensor that is read later is charged to each
  /// change of arrangement, as if it were relayed (as in problem).
  constexpr void add_flows(int from, int to, int cut_unit, meta::array<flow>& out) const {
    if (cut_unit == 0 || (from == to && !all_[to].has_parts())) return;
    for (int i = first_live_[cut_unit]; i < first_live_[cut_unit + 1]; ++i) {
      const int t = live_[i];
      if (from == to && p_.cut_unit_of[t] != cut_unit - 1) continue;
      add_flows_of(t, from, to, out);
    }
  }
  /// What devices send each other at the end of `cut_unit`: partial sums.
  constexpr void add_sums(int a, int cut_unit, meta::array<flow>& out) const {
    const auto& by = all_[a];
    if (!placement::about(by.is().cut).sums || !possible(a, cut_unit)) return;
    const auto& c = costs_[a];
    for (const int l : layers_in(cut_unit)) {
      if (c.parts[c.first[l]].to == 0) continue;
      for (int i = c.first[l]; i < c.first[l + 1]; ++i)
        for (int j = c.first[l]; j < c.first[l + 1]; ++j)
          if (i != j)
            add(out, {by.devices[i - c.first[l]], by.devices[j - c.first[l]],
                      tensor::bytes(c.parts[j].cell, on_.net.layers[l].output)});
    }
  }

 private:
  constexpr void find_units() {
    first_layer_ = meta::array<int>(p_.cut_units + 1);
    for (const int k : p_.cut_unit_of) ++first_layer_[k + 1];
    for (int k = 0; k < p_.cut_units; ++k) first_layer_[k + 1] += first_layer_[k];
    layers_ = meta::array<int>(p_.cut_unit_of.size());
    meta::array<int> next(first_layer_);
    for (int l = 0; l < p_.cut_unit_of.size(); ++l) layers_[next[p_.cut_unit_of[l]]++] = l;
  }
  constexpr std::span<const int> layers_in(int k) const {
    return {layers_.data() + first_layer_[k], static_cast<std::size_t>(first_layer_[k + 1] - first_layer_[k])};
  }
  /// Finds the tensors that cross each cut.
  constexpr void find_live() {
    struct crossing {
      int tensor = 0, first = 0, end = 0, times = 0;  // of cuts first + 1 … end
      constexpr bool is_at(int cut) const { return first < cut && cut <= end; }
    };
    meta::array<crossing> all;
    schedule::each_crossing(on_.net, {p_.cut_unit_of.data(), static_cast<std::size_t>(p_.cut_unit_of.size())},
                            [&](int t, int first, int end, int times) {
                              all.push_back({t, first, end, times});
                            });
    first_live_ = meta::array<int>(p_.cut_units + 2);
    meta::array<int> count(on_.net.size());
    for (int k = 1; k < p_.cut_units; ++k) {
      first_live_[k] = live_.size();
      for (const auto& c : all)
        if (c.is_at(k)) count[c.tensor] += c.times;
      for (const auto& c : all)
        if (c.is_at(k) && count[c.tensor] > 0) live_.push_back(c.tensor);
      for (const auto& c : all)
        if (c.is_at(k)) count[c.tensor] = 0;
    }
    first_live_[p_.cut_units] = first_live_[p_.cut_units + 1] = live_.size();
  }

  constexpr const auto& kind_of(int device) const { return p_.kinds[p_.devices[device].kind]; }
  constexpr bool may_be_on(int device, int l) const {
    const auto& layer = on_.net.layers[l];
    const int host = p_.devices[device].host;
    return !(layer.is_input && inputs_ >= 0 && host != inputs_) && !(layer.is_output && outputs_ >= 0 && host != outputs_);
  }
  constexpr bool may_split(int l, const placement::written_work& w, int ranks) const {
    const bool kept = whole_only_.size() > 0 && whole_only_[l];
    return !kept && !placement::detail::check_part(on_.net, l, w, ranks);
  }

  constexpr arranged costs_of(const arrangement& by) const {
    const int n = by.devices.size(), units = p_.cut_units;
    arranged out;
    out.possible = meta::array<char>(units, 1);
    out.seconds = meta::array<double>(units * n);
    out.weights = meta::array<std::int64_t>(units * n);
    out.live = meta::array<std::int64_t>(units * n);
    if (by.is_whole()) {
      for (int k = 0; k < units; ++k)
        for (const int l : layers_in(k)) out.possible[k] = out.possible[k] && may_be_on(by.devices[0], l);
    } else {
      const placement::written_work w{.word = by.word, .down = by.down, .across = by.across};
      for (int k = 0; k < units; ++k)
        for (const int l : layers_in(k)) out.possible[k] = out.possible[k] && may_split(l, w, n);
    }
    for (int k = 0; k < units; ++k)
      for (int i = 0; i < n; ++i) {
        const auto& c = kind_of(by.devices[i]);
        out.seconds[k * n + i] = c.seconds[k + 1] - c.seconds[k];
        out.weights[k * n + i] = c.weights[k + 1] - c.weights[k];
        out.live[k * n + i] = c.live[k];
      }
    if (by.has_parts()) plan(by, out);
    return out;
  }

  /// Plans the parts of all layers that can have some, and replaces the costs of whole layers by theirs.
  constexpr void plan(const arrangement& by, arranged& out) const {
    const int n = by.devices.size(), layers = on_.net.size();
    meta::array<int> owner(layers), work_of(layers), ranks, shares;
    ranks.push_back(0);
    for (int i = 0; i < n; ++i) ranks.push_back(i);
    for (const int s : by.shares) shares.push_back(s);
    for (int l = 0; l < layers; ++l) work_of[l] = out.possible[p_.cut_unit_of[l]];
    const placement::work_item items[]{{.first_rank = 0, .ranks = 1},
                                       {.cut = by.is().cut,
                                        .first_rank = 1,
                                        .ranks = n,
                                        .shares = shares.size(),
                                        .down = by.down,
                                        .across = by.across,
                                        .exchange_every = by.exchange_every}};
    const auto all = [](const meta::array<int>& of) {
      return meta::view<int>{of.data(), static_cast<std::size_t>(of.size())};
    };
    const placement::assignment where{all(owner), all(work_of), {items, 2}, all(ranks), all(shares)};
    const detail::arranged_input<Operators> in{on_.net, operators_, where, by, algorithms_of(by, where)};
    auto planned = parts::plan_parts(in);
    out.parts.swap(planned.list);
    out.first.swap(planned.first);
    find_needs(in, by, out);
    for (int k = 0; k < p_.cut_units; ++k)
      if (out.possible[k])
        for (int i = 0; i < n; ++i) divide(in, out, k, i);
  }
  /// How the parts of layers are computed, by layer and device.
  constexpr meta::array<algorithm::choice> algorithms_of(const arrangement& by, const placement::assignment& where) const {
    meta::array<algorithm::choice> out;
    const algorithm::choice* before = nullptr;
    for (int l = 0; l < on_.net.size(); ++l)
      for (int i = 0; i < by.devices.size(); ++i) {
        const auto processor = p_.devices[by.devices[i]].processor;
        const auto& whole = on_.algorithms[processor];
        if (i > 0 && whole.data() == before) out.push_back(algorithm::choice(out[out.size() - 1]));
        else
          out.push_back(parts::for_parts(algorithm::method_of(on_.cluster.processors[processor].unit), operators_[l],
                                         on_.net.operands(l), on_.net.layers[l].output, whole[l], where, where.of(l)));
        before = whole.data();
      }
    return out;
  }
  /// Finds what the parts of each device read of each tensor; where none of them reads it, the part that the device has.
  constexpr void find_needs(const detail::arranged_input<Operators>& in, const arrangement& by, arranged& out) const {
    const int n = by.devices.size();
    out.needs = meta::array<tensor::region>(on_.net.size() * n);
    meta::array<char> read(on_.net.size());
    for (int l = 0; l < on_.net.size(); ++l) {
      if (!in.is_split(l)) continue;
      const auto& of = on_.net.layers[l];
      int k = 0;
      for (const auto& e : on_.net.into(l)) {
        for (int i = 0; i < n; ++i) {
          const auto& p = out.parts[out.first[l] + i];
          const bool sums = p.to > 0;
          auto box =
              graph::input_region(operators_[l], k, sums ? tensor::whole(of.output) : p.box, on_.net.operands(l), of.output);
          if (sums) {
            box.begin[of.depth_axis] = p.from;
            box.end[of.depth_axis] = p.to;
          }
          auto& need = out.needs[e.from * n + i];
          if (!tensor::empty(box)) need = read[e.from] && !tensor::empty(need) ? tensor::hull(need, box) : box;
          else if (!read[e.from]) need = box;
        }
        read[e.from] = 1;
        ++k;
      }
    }
    for (int t = 0; t < on_.net.size(); ++t)
      for (int i = 0; i < n && !read[t]; ++i) {
        const int parts = out.first[t + 1] - out.first[t];
        if (i < parts) out.needs[t * n + i] = out.parts[out.first[t] + i].cell;
        else out.needs[t * n + i].end[0] = 0;  // nothing
      }
  }
  /// Replaces the costs of cut unit k on device number i by those of its part.
  constexpr void divide(const detail::arranged_input<Operators>& in, arranged& out, int k, int i) const {
    const auto& by = in.by;
    const int n = by.devices.size();
    const auto& d = p_.devices[by.devices[i]];
    const auto& c = p_.kinds[d.kind];
    const auto& seconds = on_.seconds[d.processor];
    const auto& algorithms = on_.algorithms[d.processor];
    double whole = 0, part = 0, tensors = 0, weights = 0, all_weights = 0;
    for (const int l : layers_in(k)) {
      const auto& layer = on_.net.layers[l];
      const auto& p = out.parts[out.first[l] + i];
      const auto of =
          static_cast<double>(tensor::elements(p.box, layer.output)) / static_cast<double>(layer.output.elements());
      const auto by_parts = in.algorithm_of(l, i);
      const auto bytes_of = [&](const algorithm::choice& how) {
        return static_cast<double>(how.packed_bytes ? how.packed_bytes : layer.parameter_bytes);
      };
      const bool channels = placement::about(by.is().cut).cuts[placement::axis::channels];
      const double depth = p.to > 0 ? depth_fraction(p, l) : of, read = bytes_of(by_parts) * (channels ? depth : 1);
      const detail::part_of_layer some{
          .box = p.box, .share = depth, .weight_bytes = static_cast<std::int64_t>(read), .tile = by_parts.tile};
      whole += seconds[l];
      part += seconds[l] * detail::time_fraction(some, layer, algorithms[l], on_.cluster.processors[d.processor]);
      tensors = std::max(tensors, of);
      all_weights += bytes_of(algorithms[l]);
      weights += read;
    }
    if (whole > 0) out.seconds[k * n + i] *= part / whole;
    if (all_weights > 0)
      out.weights[k * n + i] =
          static_cast<std::int64_t>(static_cast<double>(out.weights[k * n + i]) * weights / all_weights);
    out.live[k * n + i] = static_cast<std::int64_t>(static_cast<double>(c.live[k]) * std::min(1.0, tensors * 1.2));
  }
  /// Finds how early borders are computed, as schedule/borders.hpp divides parts: in whole tiles.
  constexpr void find_leads(int a) {
    const auto& by = all_[a];
    auto& c = costs_[a];
    if (!by.has_parts() || placement::about(by.is().cut).cuts[placement::axis::channels]) return;
    const int n = by.devices.size();
    c.lead = meta::array<double>(p_.cut_units * n);
    meta::array<flow> flows;
    for (int k = 0; k + 1 < p_.cut_units; ++k) {
      if (!c.possible[k] || !c.possible[k + 1]) continue;
      flows.truncate(0);
      add_flows(a, a, k + 1, flows);
      for (int i = 0; i < n; ++i) {
        double sent = 0, own = 0;
        for (const auto& f : flows) sent += f.from == by.devices[i] ? static_cast<double>(f.bytes) : 0;
        for (int at = first_live_[k + 1]; at < first_live_[k + 2] && sent > 0; ++at)
          if (const int t = live_[at]; p_.cut_unit_of[t] == k)
            own += static_cast<double>(tensor::bytes(c.parts[c.first[t] + i].box, on_.net.layers[t].output));
        if (own <= 0) continue;
        int tile = 1;
        for (const int l : layers_in(k))
          for (const int rows : on_.algorithms[p_.devices[by.devices[i]].processor][l].tile) tile = std::max(tile, rows);
        const double border = tile * sent / own;
        if (border < largest_border) c.lead[k * n + i] = (1 - border) * c.seconds[k * n + i];
      }
    }
  }
  /// The share of the input channels that a part of sums has.
  constexpr double depth_fraction(const parts::planned& p, int l) const {
    const auto& layer = on_.net.layers[l];
    const auto depth = on_.net.layers[on_.net.into(l)[0].from].output[layer.depth_axis];
    return static_cast<double>(p.to - p.from) / static_cast<double>(depth);
  }
  /// The elements that regions a and b have in common, with c too if it is not null. Compilers take long for calls and
  /// loops.
  static constexpr std::int64_t common(const tensor::region& a, const tensor::region& b, const tensor::region* c) {
    std::int64_t out = 1;
    for (int i = 0; i < tensor::region::axes; ++i) {
      auto begin = a.begin[i] > b.begin[i] ? a.begin[i] : b.begin[i], end = a.end[i] < b.end[i] ? a.end[i] : b.end[i];
      if (c) {
        if (c->begin[i] > begin) begin = c->begin[i];
        if (c->end[i] < end) end = c->end[i];
      }
      if (end <= begin) return 0;
      out *= end - begin;
    }
    return out;
  }
  constexpr void add_flows_of(int t, int from, int to, meta::array<flow>& out) const {
    const auto &source = all_.first[from], &sink = all_.first[to];
    const auto &sent = costs_.first[from], &read = costs_.first[to];
    const int n = source.devices.size(), m = sink.devices.size();
    const int *senders = source.devices.first, *readers = sink.devices.first;
    const bool pieces = sent.parts.first, needs = read.parts.first;
    const bool given_by_turns = source.has_replicas(), taken_by_turns = sink.has_replicas();
    const auto& type = on_.net.layers.first[t].output;
    const auto all = tensor::whole(type);
    const std::int64_t each = type.bytes() / (all.end[0] * all.end[1] * all.end[2] * all.end[3]);
    const int first = pieces ? sent.first.first[t] : 0, count = pieces ? sent.first.first[t + 1] - first : n;
    for (int j = 0; j < m; ++j) {
      const auto& need = needs ? read.needs.first[t * m + j] : all;
      const double taken = taken_by_turns ? sink.share(j) : 1;
      const tensor::region* own = nullptr;
      for (int i = 0; i < count; ++i)
        if (senders[i] == readers[j]) own = pieces ? &sent.parts.first[first + i].box : &all;
      if (own == &all && !given_by_turns) continue;
      for (int i = 0; i < count; ++i) {
        if (senders[i] == readers[j]) continue;
        const auto& cell = pieces ? sent.parts.first[first + i].cell : all;
        std::int64_t elements = common(cell, need, nullptr);
        if (elements == 0) continue;
        if (own && !given_by_turns) elements -= common(cell, need, own);
        if (elements > 0)
          out.push_back({senders[i], readers[j], elements * each, taken * (given_by_turns ? source.share(i) : 1)});
      }
    }
  }
  static constexpr void add(meta::array<flow>& out, const flow& f) {
    if (f.bytes > 0) out.push_back(f);
  }

  const setting& on_;
  const problem& p_;
  Operators operators_;
  const meta::array<arrangement>& all_;
  meta::view<char> whole_only_;
  const int inputs_, outputs_;
  meta::array<int> layers_, first_layer_;  ///< layers by cut unit
  meta::array<int> live_, first_live_;     ///< tensors by cut
  meta::array<arranged> costs_;
};

}  // namespace dice::cost
