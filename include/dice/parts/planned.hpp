// Which region of a layer's result each rank of a split computes.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/intervals.hpp"
#include "dice/placement/assign.hpp"
#include "dice/platform/dev.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace dice::parts {

/// What a network of parts is made from.
struct parts_input {
  graph::network_view net;
  meta::view<graph::any_operator> operators;  ///< by layer
  placement::assignment where;
  meta::view<platform::device> devices;
  algorithm::by_method<meta::view<algorithm::choice>> algorithms{};  ///< of whole layers
  meta::view<meta::view<graph::parameter>> parameters{};             ///< by layer

  /// Whether its ranks have a part of layer `layer` each, smaller than the whole.
  constexpr bool is_split(int layer) const { return where.of(layer).has_parts(); }
  constexpr bool has_replicas(int layer) const { return where.of(layer).has_replicas(); }
  constexpr const algorithm::choice& algorithm_of(int layer, int rank) const {
    return algorithms[algorithm::method_of(devices[rank].unit)][layer];
  }
};

/// One part of a layer's result. The cells of a layer's parts tile its result; a box contains its cell.
struct planned {
  int rank = 0;
  tensor::region cell{}, box{};
  std::int64_t from = 0, to = 0;  ///< input channels whose products the rank sums; 0, 0: all
};

/// The parts of all layers: those of layer l are begin(l) … end(l) - 1.
struct planned_view {
  meta::view<planned> list;
  const int* first = nullptr;  ///< by layer, and the end

  constexpr int begin(int layer) const { return first[layer]; }
  constexpr int end(int layer) const { return first[layer + 1]; }
  constexpr int size() const { return static_cast<int>(list.size()); }
  constexpr const planned& operator[](int p) const { return list.first[p]; }
};

/// The same, with its arrays.
struct planned_parts {
  meta::array<planned> list;
  meta::array<int> first;

  constexpr planned_view view() const { return {list, first.data()}; }
};

/// Into how many intervals a work divides the channels, rows and columns of its layers.
constexpr auto divisions(const placement::work_item& w) { return placement::divisions(w.cut, w.ranks, w.down, w.across); }

/// Parts of one layer of a work; replicas have all parts each.
constexpr int parts_each(const placement::work_item& w) {
  const auto [channels, rows, columns] = divisions(w);
  return channels * rows * columns * (w.has_replicas() ? w.ranks : 1);
}

namespace detail {

/// Plans the parts of all layers. It reads arrays by pointers, since what it costs at compile time is calls.
template <class Input> class planner {
 public:
  constexpr explicit planner(const Input& in)
      : in_(in),
        n_(in.net.size()),
        layers_(in.net.layers.data()),
        work_of_(in.where.work_of.data()),
        first_bound_(kinds * n_),
        pairs_(n_) {}

  constexpr planned_parts plan() {
    for (const auto& w : in_.where.work_items)
      if (w.has_parts() && w.has_replicas()) throw std::logic_error("replicas of parts of layers cannot be planned");
    first_ = meta::array<int>(n_ + 1);
    for (int l = 0; l < n_; ++l) first_[l + 1] = first_[l] + parts_each(work_of(l));
    list_.reserve(first_[n_]);
    find_pairs();
    find_preferred_steps();
    for (int l = 0; l < n_; ++l)
      if (is_split(l)) add_parts(l);
      else add_whole(l);
    if (exchanges_late()) {
      count_windows();
      for (int l = n_ - 1; l >= 0; --l)
        if (is_split(l) && work_of(l).exchange_every > 1) widen_for_readers(l);
    }
    return {static_cast<meta::array<planned>&&>(list_), static_cast<meta::array<int>&&>(first_)};
  }

 private:
  enum { channels = placement::axis::channels, rows = placement::axis::rows, columns = placement::axis::columns };
  static constexpr int kinds = placement::axis::count;

  constexpr const placement::work_item& work_of(int l) const { return in_.where.work_items.first[work_of_[l]]; }
  constexpr bool is_split(int l) const { return in_.is_split(l); }
  constexpr bool same_work(int a, int b) const { return work_of_[a] == work_of_[b]; }
  constexpr bool exchanges_late() const {
    for (const auto& w : in_.where.work_items)
      if (w.exchange_every > 1) return true;
    return false;
  }

  /// The axis of layer l's result that rows, columns or channels are; -1: it has none.
  constexpr int axis(int l, int kind) const { return placement::axis_of(layers_[l], kind); }

  /// Whether layer l computes each element from the same element of operand t, which has the same shape.
  constexpr bool is_elementwise(int l, int t) const {
    const auto& of = layers_[l];
    return (of.fuses.function || of.fuses.is_residual || of.in_place) && of.output == layers_[t].output;
  }
  /// A pooling kernel that takes results by pairs may follow, perhaps behind elementwise layers.
  constexpr void find_pairs() {
    for (int l = n_ - 1; l >= 0; --l) {
      const bool pools = layers_[l].fuses.pools_2x2;
      if (!pools && !pairs_[l]) continue;
      for (const auto& e : in_.net.into(l))
        if (same_work(l, e.from) && (pools || is_elementwise(l, e.from))) pairs_[e.from] = 1;
    }
  }

  /// Finds the steps at which a layer's rows and columns should be cut, so that the layers after it can be cut at the same
  /// places and at their own units.
  constexpr void find_preferred_steps() {
    preferred_steps_ = meta::array<std::int64_t>(kinds * n_, 1);
    for (int l = n_ - 1; l >= 0; --l) {
      if (!is_split(l)) continue;
      const auto& w = work_of(l);
      const auto divided = divisions(w);
      bool found = false;
      for (const int kind : {rows, columns}) {
        const int a = axis(l, kind), count = divided[kind];
        if (a < 0 || count == 1) continue;
        if (!found) find_units(l, w, in_.where.run_ranks.data() + w.first_rank);
        found = true;
        auto& preferred = preferred_steps_[kinds * l + kind];
        const auto extent = layers_[l].output.dim[a], own = grid(l, kind, layers_[l].cut_step(a));
        preferred = std::lcm(preferred, own);
        if (preferred > own && !suits(preferred, extent, shares(w, count))) preferred = own;
        for (const auto& e : in_.net.into(l)) {
          const int b = axis(e.from, kind);
          if (b < 0 || !same_work(l, e.from) || layers_[e.from].output.dim[b] % extent != 0) continue;
          auto& of = preferred_steps_[kinds * e.from + kind];
          of = std::lcm(of, preferred * (layers_[e.from].output.dim[b] / extent));
        }
      }
    }
  }

  constexpr meta::view<std::int64_t> bounds(int l, int kind) const {
    const auto count = static_cast<std::size_t>(divisions(work_of(l))[kind]);
    return {bounds_.data() + first_bound_[kinds * l + kind], count + 1};
  }
  /// The bounds of an operand of layer l in the same work, which layer l's own can follow; else empty.
  constexpr meta::view<std::int64_t> operand_bounds(int l, int kind) const {
    int k = 0;
    for (const auto& e : in_.net.into(l)) {
      if (same_work(l, e.from) && axis(e.from, kind) >= 0 && (kind != channels || reads_own_channels(l, k, e.from)))
        return bounds(e.from, kind);
      ++k;
    }
    return {};
  }
  /// Whether some channels of layer l need only some of those of its operand k, layer t. A convolution without groups needs
  /// all, so it gains nothing by following them.
  constexpr bool reads_own_channels(int l, int k, int t) const {
    auto some = tensor::whole(layers_[l].output);
    const int a = axis(l, channels), b = axis(t, channels);
    some.end[a] = std::min<std::int64_t>(some.end[a], layers_[l].cut_step(a));
    const auto needed = input_region(l, k, some);
    return b >= tensor::region::axes || needed.end[b] - needed.begin[b] < layers_[t].output.dim[b];
  }

  /// The shares of `count` parts; equal ones if the work gives none.
  constexpr meta::view<int> shares(const placement::work_item& w, int count) {
    if (w.shares > 0) return in_.where.shares_of(w);
    while (equal_.size() < count) equal_.push_back(1);
    return {equal_.data(), static_cast<std::size_t>(count)};
  }

  constexpr void add_whole(int l) {
    const auto& w = work_of(l);
    const auto all = tensor::whole(layers_[l].output);
    const int* ranks = in_.where.run_ranks.data() + w.first_rank;
    for (int i = 0; i < parts_each(w); ++i) list_.push_back({in_.has_replicas(l) ? ranks[i] : in_.where.owner[l], all, all});
  }
  constexpr void add_parts(int l) {
    const auto& w = work_of(l);
    const auto& of = layers_[l];
    const auto divided = divisions(w);
    const int* ranks = in_.where.run_ranks.data() + w.first_rank;
    find_units(l, w, ranks);
    int count[kinds]{}, axes[kinds]{};
    for (int k = 0; k < kinds; ++k) {
      const int a = axes[k] = axis(l, k);
      count[k] = divided[k];
      first_bound_[kinds * l + k] = bounds_.size();
      if (count[k] == 1) {
        bounds_.push_back(0), bounds_.push_back(a < 0 ? 1 : of.output.dim[a]);
        continue;
      }
      const auto step = of.cut_step(a);
      const auto found = intervals(of.output.dim[a], step, grid(l, k, step), shares(w, count[k]), operand_bounds(l, k),
                                   preferred_steps_[kinds * l + k]);
      for (const auto b : found) bounds_.push_back(b);
    }
    const auto depth = sums(l);
    bool elementwise = false;
    for (const auto& e : in_.net.into(l)) elementwise |= same_work(l, e.from) && is_elementwise(l, e.from);
    const auto whole = tensor::whole(of.output);
    for (int i = 0, c = 0; c < count[channels]; ++c)
      for (int y = 0; y < count[rows]; ++y)
        for (int x = 0; x < count[columns]; ++x, ++i) {
          planned p{.rank = ranks[i % w.ranks], .cell = whole};
          const int at[]{c, y, x};
          for (int k = 0; k < kinds; ++k)
            if (count[k] > 1) {
              const auto* b = bounds_.data() + first_bound_[kinds * l + k] + at[k];
              p.cell.begin[axes[k]] = b[0];
              p.cell.end[axes[k]] = b[1];
            }
          if (!depth.empty()) {
            p.from = depth[c];
            p.to = depth[c + 1];
          }
          p.box = whole_units(l, i % w.ranks, p.cell);
          if (elementwise) add_computed(l, i, p);
          list_.push_back(p);
        }
  }
  /// An elementwise layer computes all that the rank has of its operands, if their cells are the same.
  constexpr void add_computed(int l, int i, planned& p) const {
    for (const auto& e : in_.net.into(l))
      if (const int t = e.from; same_work(l, t) && is_elementwise(l, t) && first_[t] + i < first_[t + 1])
        if (const auto& of = list_[first_[t] + i]; of.cell == p.cell) p.box = tensor::hull(p.box, of.box);
  }

  /// Bounds of the input channels that the ranks sum; empty: every rank sums all.
  constexpr meta::array<std::int64_t> sums(int l) {
    const auto& w = work_of(l);
    if (!placement::about(w.cut).sums || layers_[l].depth_step == 0) return {};
    const int t = in_.net.into(l)[0].from;
    // Whole blocks, with the rest in the last interval: a few channels alone would get other kernels.
    const std::int64_t extent = layers_[t].output[layers_[l].depth_axis], step{layers_[l].depth_step};
    auto out = intervals(extent / step * step, step, step, shares(w, w.ranks),
                         same_work(l, t) ? bounds(t, channels) : meta::view<std::int64_t>());
    out[out.size() - 1] = extent;
    return out;
  }

  /// Finds the units of rows and columns in which the ranks of a work compute layer l: tiles of their algorithms, and whole
  /// steps.
  constexpr void find_units(int l, const placement::work_item& w, const int* ranks) {
    has_units_ = false;
    while (units_.size() < 2 * w.ranks) units_.push_back(1);
    for (int i = 0; i < w.ranks; ++i) {
      const auto& tile = in_.algorithm_of(l, ranks[i]).tile;
      for (int k = 0; k < 2; ++k) {
        auto& unit = units_[2 * i + k] = tile[k];
        if (const auto step = layers_[l].cut_step(axis(l, rows + k)); step > 1) unit = std::lcm(unit, step);
        has_units_ |= unit > 1;
      }
    }
  }
  /// Where parts of layer l begin if the kernels are to compute no tile of their algorithm twice.
  constexpr std::int64_t grid(int l, int kind, std::int64_t step) const {
    std::int64_t out = step;
    if (kind == channels) return out;
    for (int i = 0; has_units_ && i < work_of(l).ranks; ++i) out = std::lcm(out, units_[2 * i + kind - rows]);
    return pairs_[l] ? std::lcm<std::int64_t>(out, 2) : out;
  }
  /// `cell`, extended to whole units of rank i of the work of layer l.
  constexpr tensor::region whole_units(int l, int i, const tensor::region& cell) const {
    if (!has_units_) return cell;
    tensor::region out = cell;
    for (const int kind : {rows, columns})
      if (const int a = axis(l, kind); a >= 0) {
        const auto unit = units_[2 * i + kind - rows], extent = layers_[l].output[a];
        out.begin[a] = out.begin[a] / unit * unit;
        out.end[a] = std::min((out.end[a] + unit - 1) / unit * unit, extent);
      }
    return out;
  }

  /// Numbers the groups of layers between two exchanges: exchange_every layers with windows each.
  constexpr void count_windows() {
    group_ = meta::array<int>(n_);
    windows_ = meta::array<int>(n_);
    for (int l = 0; l < n_; ++l) {
      const int every = work_of(l).exchange_every;
      if (!is_split(l) || every < 2) continue;
      for (const auto& e : in_.net.into(l))
        if (same_work(l, e.from)) windows_[l] = std::max(windows_[l], windows_[e.from]);
      windows_[l] += has_window(l);
      group_[l] = std::max(windows_[l] - 1, 0) / every;
    }
  }
  /// Whether neighbouring rows or columns of layer l read some elements in common.
  constexpr bool has_window(int l) const {
    for (const int kind : {rows, columns})
      if (const int a = axis(l, kind); a >= 0 && layers_[l].output[a] > 1) {
        tensor::region one = tensor::whole(layers_[l].output), next = one;
        one.end[a] = next.begin[a] = layers_[l].output[a] / 2;
        one.begin[a] = one.end[a] - 1;
        next.end[a] = next.begin[a] + 1;
        if (input_region(l, 0, one).end[a] > input_region(l, 0, next).begin[a]) return true;
      }
    return false;
  }
  constexpr tensor::region input_region(int l, int k, const tensor::region& box) const {
    return graph::input_region(in_.operators[l], k, box, in_.net.operands(l), layers_[l].output);
  }

  /// A part also computes what the rank's parts of later layers need of it until the next exchange: the traversal of
  /// DeepThings (Zhao et al. 2018, Algorithm 1), for any graph, and for some layers rather than all.
  constexpr void widen_for_readers(int t) {
    const auto& w = work_of(t);
    const int each = parts_each(w);
    find_units(t, w, in_.where.run_ranks.data() + w.first_rank);
    for (int l = t + 1; l < n_; ++l) {
      if (!same_work(l, t) || group_[l] != group_[t]) continue;
      int k = 0;
      for (const auto& e : in_.net.into(l)) {
        if (e.from == t)
          for (int i = 0; i < each; ++i) {
            auto& p = list_[first_[t] + i];
            p.box = whole_units(t, i % w.ranks, tensor::hull(p.box, input_region(l, k, list_[first_[l] + i].box)));
          }
        ++k;
      }
    }
  }

  const Input& in_;
  const int n_;
  const graph::layer_info* layers_;
  const int* work_of_;
  meta::array<planned> list_;
  meta::array<int> first_;
  meta::array<std::int64_t> bounds_;
  meta::array<int> first_bound_;
  meta::array<char> pairs_;
  meta::array<std::int64_t> preferred_steps_;
  meta::array<int> group_, windows_;
  meta::array<int> equal_;
  meta::array<std::int64_t> units_;  ///< of the layer at hand: rows and columns by rank of its run
  bool has_units_ = false;           ///< whether any is larger than 1
};

}  // namespace detail

/// The parts of all layers. A template, so that only programs that split layers compile it.
template <class Input> constexpr planned_parts plan_parts(const Input& in) { return detail::planner<Input>(in).plan(); }

}  // namespace dice::parts
