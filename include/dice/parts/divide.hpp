// From parts to pieces: what ranks cut out of tensors, send and put together.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/parts/planned.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace dice::parts {

/// A layer of the network of parts before its operator is made.
struct piece {
  part::kind what = part::kind::whole;
  int layer = 0, rank = 0;
  tensor::region box{};
  std::int64_t from = 0, to = 0;  ///< as in part
  int first_operand = 0;          ///< in pieces::operands; the operands end where those of the next piece begin
  turn when{};                    ///< as in part
};

/// The layers of a network of parts.
struct pieces {
  meta::array<piece> list;
  meta::array<int> operands;  ///< pieces that pieces read
};

/// The same in other arrays.
struct pieces_view {
  meta::view<piece> list;
  meta::view<int> operands;

  constexpr pieces_view(meta::view<piece> all, meta::view<int> read) : list(all), operands(read) {}
  constexpr pieces_view(const pieces& p) : list(p.list), operands(p.operands) {}

  constexpr int size() const { return static_cast<int>(list.count); }
  constexpr int end_of_operands(int i) const {
    return i + 1 < size() ? list.first[i + 1].first_operand : static_cast<int>(operands.count);
  }
};

namespace detail {

/// Finds the pieces. Like planner, it reads arrays by pointers.
template <class Input> class divider {
 public:
  constexpr divider(const Input& in, const planned_view& parts)
      : in_(in),
        parts_(parts),
        all_(parts.list.first),
        first_(parts.first),
        n_(in.net.size()),
        id_(parts.size(), -1),
        partial_(parts.size(), -1),
        wanted_(parts.size(), -1),
        assembled_(n_, -1) {
    int sets = 0;
    for (const auto& w : in.where.work_items) set_of_.push_back(w.has_replicas() ? sets++ : -1);
    has_replicas_ = sets > 0;
  }

  constexpr pieces divide() {
    out_.list.reserve(4 * parts_.size());
    out_.operands.reserve(8 * parts_.size());
    find_needs();
    for (int l = 0; l < n_; ++l) {
      const bool sums = all_[first_[l]].to > 0;
      if (sums) add_partials(l);
      for (int p = first_[l]; p < first_[l + 1]; ++p) id_[p] = sums ? add_sum(l, p) : add_part(l, p);
      for (int p = first_[l]; p < first_[l + 1]; ++p) add_cuts(p);
    }
    if (has_replicas_) settle_turns();
    return static_cast<pieces&&>(out_);
  }

 private:
  constexpr const tensor::shape& result(int l) const { return in_.net.layers[l].output; }

  /// Finds the region of each operand that each part reads, by part and operand, which may be empty, and what ranks want of
  /// each other.
  constexpr void find_needs() {
    first_need_ = meta::array<int>(parts_.size());
    needs_.reserve(2 * parts_.size());
    for (int l = 0; l < n_; ++l) {
      const auto into = in_.net.into(l);
      const bool split = in_.is_split(l), sums = all_[first_[l]].to > 0;
      for (int p = first_[l]; p < first_[l + 1]; ++p) {
        first_need_[p] = needs_.size();
        int k = 0;
        for (const auto& e : into) {
          auto box = tensor::whole(result(e.from));
          if (split)
            box = graph::input_region(in_.operators[l], k, sums ? tensor::whole(result(l)) : all_[p].box,
                                      in_.net.operands(l), result(l));
          if (sums) {
            const int axis = in_.net.layers[l].depth_axis;
            box.begin[axis] = all_[p].from;
            box.end[axis] = all_[p].to;
          }
          needs_.push_back(box);
          if (!tensor::empty(box)) want_for(l, e.from, box, all_[p].rank);
          ++k;
        }
      }
    }
  }

  /// Whether layer l reads tensor t from whichever replica has it.
  constexpr bool picks(int l, int t) const {
    return has_replicas_ && in_.has_replicas(t) && in_.where.work_of[l] != in_.where.work_of[t];
  }
  constexpr void want_for(int l, int t, const tensor::region& box, int rank) {
    if (!picks(l, t)) return want(t, box, rank);
    for (int p = first_[t]; p < first_[t + 1]; ++p)
      if (all_[p].rank != rank) want_from(p, t, box, rank);
  }
  constexpr int take_for(int l, int t, const tensor::region& box, int rank) {
    return picks(l, t) ? pick(t, box, rank) : take(t, box, rank);
  }

  // A piece of a tensor is taken from one of the tensor's parts: from the rank's own part, if that has it.

  /// The part of tensor t from which rank `rank` takes all of `box`, or -1. From other ranks it takes only cells, so that no
  /// element is sent to it twice.
  constexpr int part_with(int t, const tensor::region& box, int rank) const {
    int found = -1;
    for (int p = first_[t]; p < first_[t + 1]; ++p) {
      if (all_[p].rank == rank && tensor::contains(all_[p].box, box)) return p;
      if (tensor::contains(all_[p].cell, box)) found = p;
    }
    return found;
  }
  /// The only part of tensor t on rank `rank`, or -1.
  constexpr int own_part(int t, int rank) const {
    int found = -1;
    for (int p = first_[t]; p < first_[t + 1]; ++p)
      if (all_[p].rank == rank) {
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
    const auto mine = own < 0 ? tensor::region{.end = {0, 0, 0, 0}} : tensor::intersect(all_[own].box, box);
    const bool any = !tensor::empty(mine);
    for (const int axis : {2, 3, 1, 0}) {
      division out{axis, {}};
      const auto add = [&](std::int64_t bound) {
        if (bound <= box.begin[axis] || bound >= box.end[axis]) return;
        int i = 0;
        while (i < out.at.size() && out.at[i] < bound) ++i;
        if (i == out.at.size() || out.at[i] != bound) out.at.insert(i, bound);
      };
      if (any) {
        add(mine.begin[axis]);
        add(mine.end[axis]);
      }
      for (int p = first_[t]; p < first_[t + 1]; ++p)
        if (const auto bound = all_[p].cell.begin[axis]; !any || bound < mine.begin[axis] || bound > mine.end[axis])
          add(bound);
      if (out.at.empty()) continue;
      out.at.insert(0, box.begin[axis]);
      out.at.push_back(box.end[axis]);
      return out;
    }
    throw std::logic_error("internal error, please report: the parts of a layer do not cover its result");
  }

  /// What a rank takes from a part of another rank: a region that holds pieces which overlap or touch.
  struct wanted {
    int rank = 0;
    tensor::region box{};
    int id = -1;    ///< the layer that cuts it out, or the part's own
    int next = -1;  ///< of the same part
  };
  /// The one that holds `box`.
  constexpr const wanted* wanted_by(int p, int rank, const tensor::region& box) const {
    for (int i = wanted_[p]; i >= 0; i = all_wanted_[i].next)
      if (all_wanted_[i].rank == rank && tensor::contains(all_wanted_[i].box, box)) return &all_wanted_[i];
    return nullptr;
  }
  /// Whether a rank takes both regions of tensor t at once: elements in both must not be sent twice, nor those in neither.
  constexpr bool are_one(int t, const tensor::region& a, const tensor::region& b) const {
    const auto elements = [&](const tensor::region& r) { return tensor::elements(r, result(t)); };
    return !tensor::empty(tensor::intersect(a, b)) || elements(tensor::hull(a, b)) <= elements(a) + elements(b);
  }
  /// Rank `rank` reads `box` of tensor t.
  constexpr void want(int t, const tensor::region& box, int rank) {
    if (const int p = part_with(t, box, rank); p >= 0) {
      if (all_[p].rank != rank) want_from(p, t, box, rank);
      return;
    }
    const auto d = divide(t, box, rank);
    for (int i = 0; i + 1 < d.at.size(); ++i) want(t, cut(box, d, i), rank);
  }
  /// Rank `rank` takes `box` from part p of another rank.
  constexpr void want_from(int p, int t, const tensor::region& box, int rank) {
    auto all = box;  // and those that are taken at once with it, in place of which it comes
    for (bool again = true; again;) {
      again = false;
      for (int i = wanted_[p], before = -1; i >= 0; i = all_wanted_[i].next) {
        const auto& w = all_wanted_[i];
        if (w.rank == rank && are_one(t, w.box, all)) {
          all = tensor::hull(w.box, all);
          (before < 0 ? wanted_[p] : all_wanted_[before].next) = w.next;
          again = true;
        } else {
          before = i;
        }
      }
    }
    all_wanted_.push_back({rank, all, -1, wanted_[p]});
    wanted_[p] = all_wanted_.size() - 1;
  }
  static constexpr tensor::region cut(const tensor::region& box, const division& d, int i) {
    tensor::region out = box;
    out.begin[d.axis] = d.at[i];
    out.end[d.axis] = d.at[i + 1];
    return out;
  }

  /// Tensors that were cut out or put together for a rank.
  struct held {
    int rank = 0;
    tensor::region box{};
    int id = -1, next = -1;
  };
  /// The piece whose result is `box` of tensor t on rank `rank`; adds pieces that make it.
  constexpr int take(int t, const tensor::region& box, int rank) {
    int p = part_with(t, box, rank);
    if (p >= 0) {  // most pieces are a part as it is
      const auto* w = all_[p].rank == rank ? nullptr : wanted_by(p, rank, box);
      const int from = w ? w->id : id_[p];
      if (out_.list[from].box == box) return from;
    }
    for (int i = assembled_[t]; i >= 0; i = all_held_[i].next)
      if (all_held_[i].rank == rank && all_held_[i].box == box) return all_held_[i].id;
    int id = -1;
    if (p >= 0) {
      const auto* w = all_[p].rank == rank ? nullptr : wanted_by(p, rank, box);
      id = add_cut(w ? w->id : id_[p], box, rank);
    } else {
      const auto d = divide(t, box, rank);
      meta::array<int> operands;
      for (int i = 0; i + 1 < d.at.size(); ++i) operands.push_back(take(t, cut(box, d, i), rank));
      id = add({part::kind::join, t, rank, box}, operands);
    }
    all_held_.push_back({rank, box, id, assembled_[t]});
    assembled_[t] = all_held_.size() - 1;
    return id;
  }

  /// The piece whose result is `box` of tensor t, which replicas compute, on rank `rank`.
  constexpr int pick(int t, const tensor::region& box, int rank) {
    for (int i = assembled_[t]; i >= 0; i = all_held_[i].next)
      if (all_held_[i].rank == rank && all_held_[i].box == box) return all_held_[i].id;
    auto all = box;  // what other ranks send
    for (int p = first_[t]; p < first_[t + 1]; ++p)
      if (all_[p].rank != rank)
        if (const auto* w = wanted_by(p, rank, box)) all = w->box;
    meta::array<int> operands;
    if (all == box)
      for (int p = first_[t]; p < first_[t + 1]; ++p) {
        const auto* w = all_[p].rank == rank ? nullptr : wanted_by(p, rank, box);
        operands.push_back(w ? w->id : own_replica(t, p, box));
      }
    const int id = all == box ? add({part::kind::pick, t, rank, box}, operands) : add_cut(pick(t, all, rank), box, rank);
    all_held_.push_back({rank, box, id, assembled_[t]});
    assembled_[t] = all_held_.size() - 1;
    return id;
  }
  /// A replica's own result where the rank picks it: in memory of its own, since other replicas' results arrive there.
  constexpr int own_replica(int t, int p, const tensor::region& box) {
    const auto& of = in_.net.layers[t];
    if (box == all_[p].box && of.view < 0 && !of.is_concat) return id_[p];
    piece out{part::kind::copy, t, all_[p].rank, box};
    out.when = turn_of(t, p);
    return add(out, meta::array<int>(1, id_[p]));
  }
  /// The frames of part p of layer l.
  constexpr turn turn_of(int l, int p) const {
    if (!has_replicas_ || !in_.has_replicas(l)) return {};
    return {set_of_[in_.where.work_of[l]], p - first_[l]};
  }
  /// Pieces that only replicas read are put together only for their frames. All readers of a piece come after it.
  constexpr void settle_turns() {
    meta::array<turn> read(out_.list.size());     // by piece: when its last reader reads it
    meta::array<char> readers(out_.list.size());  // none, all at that time, or some at another, which no reader undoes
    for (int i = out_.list.size() - 1; i >= 0; --i) {
      auto& p = out_.list[i];
      const bool own = p.what == part::kind::whole || p.what == part::kind::compute || p.what == part::kind::partial;
      if (!own && p.when.always() && readers[i] == 1) p.when = read[i];
      const int end = i + 1 < out_.list.size() ? out_.list[i + 1].first_operand : out_.operands.size();
      for (int k = p.first_operand; k < end; ++k) {
        const int t = out_.operands[k];
        if (readers[t] == 0) {
          read[t] = p.when;
          readers[t] = 1;
        } else if (read[t] != p.when) readers[t] = 2;
      }
    }
  }

  constexpr int add(piece what, const meta::array<int>& operands) {
    what.first_operand = out_.operands.size();
    for (const int from : operands) out_.operands.push_back(from);
    out_.list.push_back(what);
    return out_.list.size() - 1;
  }
  constexpr int add_cut(int from, const tensor::region& box, int rank) {
    const auto& of = out_.list[from];
    piece out{part::kind::cut, of.layer, rank, box, of.from, of.to};
    out.when = of.when;
    return add(out, meta::array<int>(1, from));
  }

  constexpr int add_part(int l, int p) {
    const int rank = all_[p].rank;
    meta::array<int> operands;
    int need = first_need_[p];
    for (const auto& e : in_.net.into(l)) {
      if (!tensor::empty(needs_[need])) operands.push_back(take_for(l, e.from, needs_[need], rank));
      ++need;
    }
    piece out{in_.is_split(l) ? part::kind::compute : part::kind::whole, l, rank, all_[p].box};
    out.when = turn_of(l, p);
    return add(out, operands);
  }
  constexpr void add_partials(int l) {
    const int t = in_.net.into(l)[0].from;
    for (int p = first_[l]; p < first_[l + 1]; ++p) {
      const meta::array<int> operands(1, take_for(l, t, needs_[first_need_[p]], all_[p].rank));
      partial_[p] =
          add({part::kind::partial, l, all_[p].rank, tensor::whole(result(l)), all_[p].from, all_[p].to}, operands);
    }
  }
  /// Sums the ranks' partial sums of one part, in the order of the ranks.
  constexpr int add_sum(int l, int p) {
    const auto& of = all_[p];
    meta::array<int> operands;
    for (int q = first_[l]; q < first_[l + 1]; ++q)
      operands.push_back(out_.list[partial_[q]].box == of.box ? partial_[q] : add_cut(partial_[q], of.box, all_[q].rank));
    return add({part::kind::sum, l, of.rank, of.box}, operands);
  }
  /// What other ranks take from part p.
  constexpr void add_cuts(int p) {
    for (int i = wanted_[p]; i >= 0; i = all_wanted_[i].next) {
      auto& w = all_wanted_[i];
      w.id = w.box == all_[p].box ? id_[p] : -1;
      for (int j = wanted_[p]; j != i && w.id < 0; j = all_wanted_[j].next)
        if (all_wanted_[j].box == w.box) w.id = all_wanted_[j].id;
      if (w.id < 0) w.id = add_cut(id_[p], w.box, all_[p].rank);
    }
  }

  const Input& in_;
  const planned_view& parts_;
  const planned* all_;
  const int* first_;
  const int n_;
  pieces out_;
  meta::array<tensor::region> needs_;
  meta::array<int> first_need_;    ///< by part, in needs_
  meta::array<int> id_, partial_;  ///< by part: its piece; that of its partial sum
  meta::array<wanted> all_wanted_;
  meta::array<int> wanted_;  ///< by part: the first in all_wanted_
  meta::array<held> all_held_;
  meta::array<int> assembled_;  ///< by tensor: the first in all_held_
  meta::array<int> set_of_;     ///< by work: its number among those of replicas, or -1
  bool has_replicas_ = false;
};

}  // namespace detail

/// The pieces of a placement without mistakes.
template <class Input> constexpr pieces divide(const Input& in, const planned_view& parts) {
  return detail::divider<Input>(in, parts).divide();
}

}  // namespace dice::parts
