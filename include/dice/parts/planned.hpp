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
#include <span>

namespace dice::parts {

/// What a network of parts is made from.
struct source {
  graph::network_view net;
  meta::view<graph::any_operator> operators;  ///< by layer
  placement::assignment where;
  std::span<const platform::device> devices;
  algorithm::by_backend<std::span<const algorithm::choice>> algorithms{};  ///< of whole layers
  std::span<const std::span<const graph::parameter>> parameters{};         ///< by layer

  constexpr const algorithm::choice& algorithm_of(int layer, int rank) const {
    return algorithms[algorithm::backend_of(devices[rank].unit)][layer];
  }
};

/// One part of a layer's result. The cells of a layer's parts tile its result; a box contains its cell.
struct planned {
  int rank = 0;
  tensor::region cell{}, box{};
  std::int64_t from = 0, to = 0;  ///< input channels whose products the rank sums; 0, 0: all
};

/// The parts of all layers. A template like the functions below, so that only programs that split layers compile it.
template <class Source> class planned_parts {
 public:
  constexpr explicit planned_parts(const Source& in)
      : in_(in), n_(in.net.size()), first_(n_ + 1), first_bound_(n_), pairs_(n_) {
    find_pairs();
    for (int l = 0; l < n_; ++l) {
      first_[l] = list_.size();
      if (is_split(l)) add_parts(l);
      else list_.push_back({in.where.owner[l], tensor::whole(layer(l).output), tensor::whole(layer(l).output)});
    }
    first_[n_] = list_.size();
    count_windows();
    for (int l = n_ - 1; l >= 0; --l)
      if (is_split(l) && work_of(l).exchange_every > 1) widen_for_readers(l);
  }

  /// Parts of a layer are consecutive.
  constexpr int first(int layer) const { return first_[layer]; }
  constexpr int end(int layer) const { return first_[layer + 1]; }
  constexpr int size() const { return list_.size(); }
  constexpr const planned& operator[](int p) const { return list_[p]; }
  constexpr bool is_split(int layer) const { return in_.where.of(layer).how != placement::way::whole; }

 private:
  using way = placement::way;
  enum { channels, rows, columns, kinds };  ///< of axes on which a result is divided

  constexpr const placement::work& work_of(int layer) const { return in_.where.of(layer); }
  constexpr const graph::layer_info& layer(int l) const { return in_.net.layers[l]; }
  constexpr bool same_work(int a, int b) const { return in_.where.work_of[a] == in_.where.work_of[b]; }
  constexpr int rank(const placement::work& w, int i) const { return in_.where.ranks_of(w)[i % w.ranks]; }

  /// The axis of layer l's result that rows, columns or channels are; -1: it has none.
  constexpr int axis(int l, int kind) const {
    const auto& of = layer(l);
    return kind == channels ? of.channels_axis() : kind == rows ? of.rows_axis() : of.columns_axis();
  }
  /// Parts of layer l may begin at multiples of this on that axis; 0: it cannot be cut there.
  constexpr std::int64_t step(int l, int kind) const { return layer(l).cut_step(axis(l, kind)); }
  /// Into how many intervals a work divides each kind of axis.
  static constexpr std::array<int, kinds> counts(const placement::work& w) {
    switch (w.how) {
      case way::rows:
        return {1, w.ranks, 1};
      case way::columns:
        return {1, 1, w.ranks};
      case way::tiles:
        return {1, w.down, w.across};
      case way::whole:
        return {1, 1, 1};
      default:
        return {w.ranks, 1, 1};
    }
  }

  /// Whether layer l computes each element from the same element of operand t, which has the same shape.
  constexpr bool is_elementwise(int l, int t) const {
    const auto& of = layer(l);
    return of.output == layer(t).output && (of.fuses.function || of.fuses.is_residual || of.in_place);
  }
  /// A pooling kernel that takes results by pairs may follow, perhaps behind elementwise layers.
  constexpr void find_pairs() {
    for (int l = n_ - 1; l >= 0; --l)
      for (const auto& e : in_.net.into(l))
        if (same_work(l, e.from) && (layer(l).fuses.pools_2x2 || (pairs_[l] && is_elementwise(l, e.from))))
          pairs_[e.from] = 1;
  }

  constexpr std::span<const std::int64_t> bounds(int l, int kind) const {
    const auto all = counts(work_of(l));
    int at = first_bound_[l];
    for (int k = 0; k < kind; ++k) at += all[k] + 1;
    return {bounds_.data() + at, static_cast<std::size_t>(all[kind]) + 1};
  }
  /// Those of an operand of layer l in the same work, by which its own can go; else empty.
  constexpr std::span<const std::int64_t> operand_bounds(int l, int kind) const {
    for (const auto& e : in_.net.into(l))
      if (same_work(l, e.from) && axis(e.from, kind) >= 0) return bounds(e.from, kind);
    return {};
  }

  /// The shares of `count` parts; equal ones if the work gives none.
  constexpr std::span<const int> shares(const placement::work& w, int count) {
    if (w.shares > 0) return in_.where.shares_of(w);
    while (equal_.size() < count) equal_.push_back(1);
    return {equal_.data(), static_cast<std::size_t>(count)};
  }

  constexpr void add_parts(int l) {
    const auto& w = work_of(l);
    const auto& of = layer(l);
    const auto count = counts(w);
    first_bound_[l] = bounds_.size();
    for (int k = 0; k < kinds; ++k) {
      const int a = axis(l, k);
      if (count[k] == 1) {
        bounds_.push_back(0), bounds_.push_back(a < 0 ? 1 : of.output[a]);
        continue;
      }
      const auto found = intervals(of.output[a], step(l, k), grid(l, k), shares(w, count[k]), operand_bounds(l, k));
      for (const auto b : found) bounds_.push_back(b);
    }
    const auto depth = sums(l);
    for (int i = 0, c = 0; c < count[channels]; ++c)
      for (int y = 0; y < count[rows]; ++y)
        for (int x = 0; x < count[columns]; ++x, ++i) {
          planned p{.rank = rank(w, i), .cell = tensor::whole(of.output)};
          const int at[]{c, y, x};
          for (int k = 0; k < kinds; ++k)
            if (const int a = axis(l, k); a >= 0 && count[k] > 1)
              p.cell.begin[a] = bounds(l, k)[at[k]], p.cell.end[a] = bounds(l, k)[at[k] + 1];
          if (!depth.empty()) p.from = depth[c], p.to = depth[c + 1];
          p.box = whole_tiles(l, p.rank, p.cell);
          for (const auto& e : in_.net.into(l))
            if (same_work(l, e.from) && is_elementwise(l, e.from) && end_of(e.from) - first_[e.from] > i &&
                list_[first_[e.from] + i].cell == p.cell)
              p.box = tensor::hull(p.box, list_[first_[e.from] + i].box);
          list_.push_back(p);
        }
  }
  constexpr int end_of(int l) const { return first_[l] + cells(l); }
  constexpr int cells(int l) const {
    const auto count = counts(work_of(l));
    return count[0] * count[1] * count[2];
  }

  /// Bounds of the input channels that the ranks sum; empty: every rank sums all.
  constexpr meta::array<std::int64_t> sums(int l) {
    const auto& w = work_of(l);
    if (w.how != way::input_channels || layer(l).depth_step == 0) return {};
    const int t = in_.net.into(l)[0].from;
    // Whole blocks, the last interval also what remains: kernels of few channels would be others.
    const std::int64_t extent = layer(t).output[layer(l).depth_axis], step{layer(l).depth_step};
    auto out = intervals(extent / step * step, step, step, shares(w, w.ranks),
                         same_work(l, t) ? bounds(t, channels) : std::span<const std::int64_t>());
    out[out.size() - 1] = extent;
    return out;
  }

  /// Where parts begin if the kernels are to compute no tile of their algorithm twice.
  constexpr std::int64_t grid(int l, int kind) const {
    std::int64_t out = step(l, kind);
    if (kind == channels) return out;
    const auto& w = work_of(l);
    for (int i = 0; i < w.ranks; ++i) out = std::lcm(out, tile(l, rank(w, i), kind));
    return pairs_[l] ? std::lcm<std::int64_t>(out, 2) : out;
  }
  /// Rows or columns of a tile of the algorithm with which a rank computes layer l.
  constexpr std::int64_t tile(int l, int rank, int kind) const { return in_.algorithm_of(l, rank).tile[kind - rows]; }
  /// `cell`, extended to whole tiles of the rank's algorithm.
  constexpr tensor::region whole_tiles(int l, int rank, const tensor::region& cell) const {
    tensor::region out = cell;
    for (const int kind : {rows, columns})
      if (const int a = axis(l, kind); a >= 0) {
        const auto unit = std::lcm(tile(l, rank, kind), std::max<std::int64_t>(step(l, kind), 1)),
                   extent = layer(l).output[a];
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
      if (const int a = axis(l, kind); a >= 0 && layer(l).output[a] > 1) {
        tensor::region one = tensor::whole(layer(l).output), next = one;
        one.end[a] = next.begin[a] = layer(l).output[a] / 2;
        one.begin[a] = one.end[a] - 1, next.end[a] = next.begin[a] + 1;
        if (input_region(l, 0, one).end[a] > input_region(l, 0, next).begin[a]) return true;
      }
    return false;
  }
  constexpr tensor::region input_region(int l, int k, const tensor::region& box) const {
    return graph::input_region(in_.operators[l], k, box, in_.net.operands(l), layer(l).output);
  }

  /// A part also computes what the rank's parts of later layers need of it until the next exchange.
  constexpr void widen_for_readers(int t) {
    for (int l = t + 1; l < n_; ++l) {
      if (!same_work(l, t) || group_[l] != group_[t] || cells(l) != cells(t)) continue;
      int k = 0;
      for (const auto& e : in_.net.into(l)) {
        if (e.from == t)
          for (int i = 0; i < cells(t); ++i) {
            auto& p = list_[first_[t] + i];
            p.box = whole_tiles(t, p.rank, tensor::hull(p.box, input_region(l, k, list_[first_[l] + i].box)));
          }
        ++k;
      }
    }
  }

  const Source& in_;
  const int n_;
  meta::array<planned> list_;
  meta::array<int> first_;
  meta::array<std::int64_t> bounds_;
  meta::array<int> first_bound_;
  meta::array<char> pairs_;
  meta::array<int> group_, windows_;
  meta::array<int> equal_;
};

}  // namespace dice::parts
