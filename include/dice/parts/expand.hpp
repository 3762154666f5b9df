// From a network and its parts to the network of parts: which pieces of tensors ranks cut out, send and put together.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/ops.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/crop.hpp"
#include "dice/parts/part.hpp"
#include "dice/parts/planned.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace dice::parts {

namespace detail {

template <class Source> class expander {
 public:
  constexpr expander(const Source& in, const planned_parts<Source>& parts)
      : in_(in),
        parts_(parts),
        n_(in.net.size()),
        id_(parts.size(), -1),
        partial_(parts.size(), -1),
        wanted_(parts.size(), -1),
        assembled_(n_, -1) {}

  constexpr network build() {
    const int most = 4 * parts_.size();
    out_.layers.reserve(most), out_.edges.reserve(2 * most), out_.carried.reserve(2 * most), out_.parts.reserve(most);
    out_.owner.reserve(most), out_.restricted.reserve(most), out_.operators.reserve(most), out_.parameters.reserve(most);
    for (int l = 0; l < n_; ++l) each_need(l, [&](int, int t, const tensor::region& box, int rank) { want(t, box, rank); });
    for (int l = 0; l < n_; ++l) {
      if (sums_channels(l)) add_partials(l);
      for (int p = parts_.first(l); p < parts_.end(l); ++p) id_[p] = sums_channels(l) ? add_sum(l, p) : add_part(l, p);
      for (int p = parts_.first(l); p < parts_.end(l); ++p) add_cuts(p);
    }
    out_.first_parameter.push_back(out_.parameters.size());
    return static_cast<network&&>(out_);
  }

 private:
  constexpr const graph::layer_info& layer(int l) const { return in_.net.layers[l]; }
  constexpr bool sums_channels(int l) const { return parts_[parts_.first(l)].to > 0; }
  constexpr tensor::region input_region(int l, int k, const tensor::region& box) const {
    return graph::input_region(in_.operators[l], k, box, in_.net.operands(l), layer(l).output);
  }

  /// The region of operand k, tensor t, that part p of layer l reads; may be empty.
  constexpr tensor::region need(int l, int p, int k, int t) const {
    if (!parts_.is_split(l)) return tensor::whole(layer(t).output);
    if (!sums_channels(l)) return input_region(l, k, parts_[p].box);
    tensor::region out = input_region(l, k, tensor::whole(layer(l).output));
    out.begin[layer(l).depth_axis] = parts_[p].from, out.end[layer(l).depth_axis] = parts_[p].to;
    return out;
  }
  /// Calls f(k, t, region, rank) for all that the parts of layer l read.
  template <class F> constexpr void each_need(int l, const F& f) const {
    for (int p = parts_.first(l); p < parts_.end(l); ++p) {
      int k = 0;
      for (const auto& e : in_.net.into(l)) {
        const auto box = need(l, p, k, e.from);
        if (!tensor::empty(box)) f(k, e.from, box, parts_[p].rank);
        ++k;
      }
    }
  }

  // A piece of a tensor is taken from one of the tensor's parts. A rank takes from its own part what that has.

  /// The part of tensor t from which rank `rank` takes all of `box`, or -1. From other ranks it takes cells only, so that no
  /// element is sent to it twice.
  constexpr int part_with(int t, const tensor::region& box, int rank) const {
    int found = -1;
    for (int p = parts_.first(t); p < parts_.end(t); ++p) {
      if (parts_[p].rank == rank && tensor::contains(parts_[p].box, box)) return p;
      if (tensor::contains(parts_[p].cell, box)) found = p;
    }
    return found;
  }
  /// The only part of tensor t on rank `rank`, or -1.
  constexpr int own_part(int t, int rank) const {
    int found = -1;
    for (int p = parts_.first(t); p < parts_.end(t); ++p)
      if (parts_[p].rank == rank) {
        if (found >= 0) return -1;
        found = p;
      }
    return found;
  }
  /// How `box` is divided into smaller boxes, each of which is taken from one part or divided further: along `axis`, at
  /// `at`, which begins and ends with the box's own bounds.
  struct division {
    int axis = 0;
    meta::array<std::int64_t> at;
  };
  constexpr division divide(int t, const tensor::region& box, int rank) const {
    const int own = own_part(t, rank);
    const auto mine = own < 0 ? tensor::region{.end = {0, 0, 0, 0}} : tensor::intersect(parts_[own].box, box);
    const bool any = !tensor::empty(mine);
    for (const int axis : {2, 3, 1, 0}) {
      division out{axis, {}};
      const auto add = [&](std::int64_t bound) {
        if (bound <= box.begin[axis] || bound >= box.end[axis]) return;
        int i = 0;
        while (i < out.at.size() && out.at[i] < bound) ++i;
        if (i == out.at.size() || out.at[i] != bound) out.at.insert(i, bound);
      };
      if (any) add(mine.begin[axis]), add(mine.end[axis]);
      for (int p = parts_.first(t); p < parts_.end(t); ++p)
        if (const auto bound = parts_[p].cell.begin[axis]; !any || bound < mine.begin[axis] || bound > mine.end[axis])
          add(bound);
      if (out.at.empty()) continue;
      out.at.insert(0, box.begin[axis]);
      out.at.push_back(box.end[axis]);
      return out;
    }
    throw std::logic_error("dice is wrong, please report: the parts of a layer do not cover its result");
  }

  /// What a rank takes from a part of another rank: one region that holds all pieces.
  struct wanted {
    int rank = 0;
    tensor::region box{};
    int id = -1;    ///< the layer that cuts it out, or the part's own
    int next = -1;  ///< of the same part
  };
  constexpr wanted* wanted_by(int p, int rank) {
    for (int i = wanted_[p]; i >= 0; i = all_wanted_[i].next)
      if (all_wanted_[i].rank == rank) return &all_wanted_[i];
    return nullptr;
  }
  /// Rank `rank` reads `box` of tensor t.
  constexpr void want(int t, const tensor::region& box, int rank) {
    if (const int p = part_with(t, box, rank); p >= 0) {
      if (parts_[p].rank == rank) return;
      if (auto* w = wanted_by(p, rank)) {
        w->box = tensor::hull(w->box, box);
      } else {
        all_wanted_.push_back({rank, box, -1, wanted_[p]});
        wanted_[p] = all_wanted_.size() - 1;
      }
      return;
    }
    const auto d = divide(t, box, rank);
    for (int i = 0; i + 1 < d.at.size(); ++i) want(t, piece(box, d, i), rank);
  }
  static constexpr tensor::region piece(const tensor::region& box, const division& d, int i) {
    tensor::region out = box;
    out.begin[d.axis] = d.at[i], out.end[d.axis] = d.at[i + 1];
    return out;
  }

  /// Tensors that were cut out or put together for a rank.
  struct held {
    int rank = 0;
    tensor::region box{};
    int id = -1, next = -1;
  };
  /// The layer whose result is `box` of tensor t on rank `rank`; adds layers that make it.
  constexpr int take(int t, const tensor::region& box, int rank) {
    for (int i = assembled_[t]; i >= 0; i = all_held_[i].next)
      if (all_held_[i].rank == rank && all_held_[i].box == box) return all_held_[i].id;
    int id = -1;
    if (const int p = part_with(t, box, rank); p >= 0) {
      const auto* w = parts_[p].rank == rank ? nullptr : wanted_by(p, rank);
      const int from = w ? w->id : id_[p];
      id = out_.parts[from].box == box ? from : add_cut(from, box, rank);
      if (id == from) return id;
    } else {
      const auto d = divide(t, box, rank);
      meta::array<int> operands;
      for (int i = 0; i + 1 < d.at.size(); ++i) operands.push_back(take(t, piece(box, d, i), rank));
      id = add_join(t, box, d.axis, operands, rank);
    }
    all_held_.push_back({rank, box, id, assembled_[t]});
    assembled_[t] = all_held_.size() - 1;
    return id;
  }

  constexpr tensor::shape shape_of(int l, const tensor::region& box) const {
    tensor::shape out = layer(l).output;
    for (int a = 0; a < out.rank && a < tensor::region::axes; ++a) out[a] = box.end[a] - box.begin[a];
    return out;
  }

  /// Adds a layer that computes `op` from `operands`. Its parameters are those added before it.
  constexpr int add(const graph::any_operator& op, const part& what, const meta::array<int>& operands, int rank,
                    std::int64_t parameter_bytes = 0) {
    const int id = out_.layers.size();
    const auto& whole = layer(what.layer);
    graph::layer_info l{.name = whole.name,
                        .onnx_name = whole.onnx_name,
                        .op = op.onnx(),
                        .output = shape_of(what.layer, what.box),
                        .first_edge = out_.edges.size(),
                        .edges = operands.size(),
                        .parameter_bytes = parameter_bytes};
    for (const int from : operands) {
      out_.edges.push_back({from, id});
      out_.carried.push_back(out_.layers[from].output);
    }
    if (!graph::describe(op, operands_at(l), l, out_.edges.data() + l.first_edge))
      throw std::logic_error("dice is wrong, please report: an operator does not compute a part as it says");
    out_.restricted.push_back(out_.operators.size());
    out_.operators.push_back(op);
    return push(l, what, rank);
  }
  /// Adds the parameters of the next layer, a part of layer l: the regions of the whole layer's that `region_of` says.
  template <class F> constexpr std::int64_t add_parameters(int l, const F& region_of, int most = 2) {
    std::int64_t bytes = 0;
    int p = 0;
    for (const auto& whole : in_.parameters[l]) {
      if (p == most) break;
      out_.parameters.push_back(crop(whole, region_of(p++, whole.extents)));
      bytes += out_.parameters[out_.parameters.size() - 1].extents.bytes();
    }
    return bytes;
  }
  constexpr graph::shapes operands_at(const graph::layer_info& l) const {
    return {out_.carried.data() + l.first_edge, static_cast<std::size_t>(l.edges)};
  }
  constexpr int push(const graph::layer_info& l, const part& what, int rank) {
    out_.first_parameter.push_back(first_parameter_);
    first_parameter_ = out_.parameters.size();
    out_.layers.push_back(l);
    out_.parts.push_back(what);
    out_.owner.push_back(rank);
    return out_.layers.size() - 1;
  }

  /// A layer that is not split, as it is.
  constexpr int add_whole(int l, int rank, const meta::array<int>& operands) {
    auto info = layer(l);
    info.first_edge = out_.edges.size();
    int k = 0;
    for (const auto& e : in_.net.into(l)) {
      out_.edges.push_back({operands[k++], out_.layers.size(), e.joins});
      out_.carried.push_back(layer(e.from).output);
    }
    out_.restricted.push_back(-1);
    return push(info, {part::kind::whole, l, tensor::whole(info.output), info.output}, rank);
  }

  constexpr int add_part(int l, int p) {
    const int rank = parts_[p].rank;
    meta::array<int> operands;
    int k = 0;
    for (const auto& e : in_.net.into(l)) {
      if (const auto box = need(l, p, k, e.from); !tensor::empty(box)) operands.push_back(take(e.from, box, rank));
      ++k;
    }
    if (!parts_.is_split(l)) return add_whole(l, rank, operands);
    const auto& box = parts_[p].box;
    const auto in = in_.net.operands(l);
    const auto& op = in_.operators[l];
    const auto bytes = add_parameters(l, [&](int q, const tensor::shape& extents) {
      return graph::parameter_region(op, q, box, in, layer(l).output, extents);
    });
    return add(graph::restrict(op, box, in, layer(l).output), {part::kind::compute, l, box, layer(l).output}, operands, rank,
               bytes);
  }

  constexpr void add_partials(int l) {
    const auto whole = tensor::whole(layer(l).output);
    for (int p = parts_.first(l); p < parts_.end(l); ++p) {
      const auto& of = parts_[p];
      const int t = in_.net.into(l)[0].from;
      meta::array<int> operands(1, take(t, need(l, p, 0, t), of.rank));
      const bool first = of.from == 0;
      const auto bytes = add_parameters(
          l,
          [&](int q, const tensor::shape& extents) {
            auto box = tensor::whole(extents);
            if (q == 0) box.begin[1] = of.from, box.end[1] = of.to;
            return box;
          },
          first ? 2 : 1);
      partial_[p] = add(graph::partial(in_.operators[l], of.from, of.to, first, in_.net.operands(l)),
                        {part::kind::partial, l, whole, layer(l).output, of.from, of.to}, operands, of.rank, bytes);
    }
  }
  /// Sums the ranks' partial sums of one part, in the order of the ranks.
  constexpr int add_sum(int l, int p) {
    const auto& of = parts_[p];
    meta::array<int> operands;
    for (int q = parts_.first(l); q < parts_.end(l); ++q)
      operands.push_back(out_.parts[partial_[q]].box == of.box ? partial_[q] : add_cut(partial_[q], of.box, parts_[q].rank));
    return add(graph::any_operator(ops::sum{}), {part::kind::sum, l, of.box, layer(l).output}, operands, of.rank);
  }

  /// What other ranks take from part p.
  constexpr void add_cuts(int p) {
    for (int i = wanted_[p]; i >= 0; i = all_wanted_[i].next) {
      auto& w = all_wanted_[i];
      w.id = w.box == parts_[p].box ? id_[p] : -1;
      for (int j = wanted_[p]; j != i && w.id < 0; j = all_wanted_[j].next)
        if (all_wanted_[j].box == w.box) w.id = all_wanted_[j].id;
      if (w.id < 0) w.id = add_cut(id_[p], w.box, parts_[p].rank);
    }
  }
  constexpr int add_cut(int from, const tensor::region& box, int rank) {
    const auto& part = out_.parts[from];
    ops::slice op{.extents = shape_of(part.layer, box)};
    for (int a = 0; a < tensor::region::axes; ++a) op.starts[a] = box.begin[a] - part.box.begin[a];
    return add(graph::any_operator(op), {part::kind::cut, part.layer, box, part.of, part.from, part.to},
               meta::array<int>(1, from), rank);
  }
  constexpr int add_join(int t, const tensor::region& box, int axis, const meta::array<int>& operands, int rank) {
    return add(graph::any_operator(ops::concat{.axis = axis}), {part::kind::join, t, box, layer(t).output}, operands, rank);
  }

  const Source& in_;
  const planned_parts<Source>& parts_;
  const int n_;
  network out_;
  int first_parameter_ = 0;        ///< of the next layer, in out_.parameters
  meta::array<int> id_, partial_;  ///< by part: its layer; the layer of its partial sum
  meta::array<wanted> all_wanted_;
  meta::array<int> wanted_;  ///< by part: the first in all_wanted_
  meta::array<held> all_held_;
  meta::array<int> assembled_;  ///< by tensor: the first in all_held_
};

}  // namespace detail

/// The network of parts. Requires a placement without mistakes.
template <class Source> [[gnu::cold]] constexpr network expand(const Source& in) {
  return detail::expander<Source>(in, planned_parts<Source>(in)).build();
}

}  // namespace dice::parts
