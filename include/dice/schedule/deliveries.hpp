// Which tensors reach which other ranks, and how.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/built_plan.hpp"
#include "dice/schedule/carried.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::schedule {

/// The step of a layer reads a tensor.
struct read {
  int layer = 0, tensor = 0;
};

/// A tensor that another rank reads.
struct delivery {
  int to = 0;
  int reader = 0;           ///< the first layer there that reads it
  int within = -1;          ///< the Concat that brings it, or -1: it has a message of its own
  std::int64_t offset = 0;  ///< there, in elements
  int tried = -1;           ///< the last Concat that might bring it
  parts::turn read{};       ///< for which frames it is read there
};

/// The deliveries of all tensors.
class deliveries {
 public:
  constexpr deliveries() = default;
  /// `reads`: what the steps read, in the order of the layers.
  constexpr deliveries(const plan_input& in, const meta::array<tensor::layout>& layouts, const meta::array<read>& reads)
      : first_(in.net.size() + 1), count_(in.net.size()) {
    const int n = in.net.size();
    for (const auto& r : reads) first_[r.tensor + 1] += in.owner[r.tensor] != in.owner[r.layer];
    for (int t = 0; t < n; ++t) first_[t + 1] += first_[t];
    all_ = meta::array<delivery>(first_[n]);
    for (const auto& [l, t] : reads) {
      const int rank = in.owner[l];
      if (in.owner[t] == rank) continue;
      if (const int d = index(t, rank); d < 0) all_[first_[t] + count_[t]++] = {.to = rank, .reader = l, .read = in.when(l)};
      else if (all_[d].read != in.when(l)) all_[d].read = {};
    }
    // A tensor comes within a Concat that the same rank reads, if it is read there only after the Concat was computed: then
    // ranks still wait only for layers before theirs. Later Concats first: the first one that has a message counts.
    for (int c = n - 1; c >= 0; --c)
      for (const auto& whole : of(c)) {
        if (whole.within >= 0) continue;
        each_joined(in.net, c, [&](int t, std::int64_t offset) {
          const int d = index(t, whole.to);
          if (d < 0 || all_[d].tried == c) return;  // a tensor may occur twice in c
          auto& part = all_[d];
          const bool fits = layouts[t] == layouts[c] && keeps_place(in.net, t, c, offset, layouts[c]) &&
                            part.read == whole.read && in.when(t).always() && in.when(c).always();
          part.within = fits && part.reader > c ? c : -1;
          part.offset = offset, part.tried = c;
        });
      }
  }

  /// Those of tensor t.
  constexpr meta::view<delivery> of(int t) const { return {all_.data() + first_[t], static_cast<std::size_t>(count_[t])}; }
  constexpr const delivery* find(int tensor, int rank) const {
    const int i = index(tensor, rank);
    return i < 0 ? nullptr : &all_[i];
  }
  /// The tensor by whose message tensor t, of another rank, reaches rank `rank`.
  constexpr int brought_by(int t, int rank) const {
    const auto* d = find(t, rank);
    return d->within < 0 ? t : d->within;
  }

 private:
  constexpr int index(int tensor, int rank) const {
    for (int i = first_[tensor]; i < first_[tensor] + count_[tensor]; ++i)
      if (all_[i].to == rank) return i;
    return -1;
  }

  meta::array<int> first_, count_;  ///< by tensor, in all_
  meta::array<delivery> all_;
};

}  // namespace dice::schedule
