// Which tensors reach which other ranks, and how.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/fuse.hpp"
#include "dice/schedule/plan_input.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::schedule {

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
  constexpr deliveries(const plan_input& in, const meta::array<tensor::layout>& layouts, const read_lists& reads)
      : first_(in.net.size() + 1), count_(in.net.size()) {
    const int n = in.net.size();
    const int* owner = in.owner.first;
    const bool turns = !in.replicas.empty();
    for (int l = 0; l < n; ++l)
      for (int k = reads.first[l]; k < reads.first[l + 1]; ++k)
        if (const int t = reads.tensors[k]; owner[t] != owner[l]) ++first_.first[t + 1];
    for (int t = 0; t < n; ++t) first_.first[t + 1] += first_.first[t];
    all_ = meta::array<delivery>(first_.first[n]);
    for (int l = 0; l < n; ++l)
      for (int k = reads.first[l]; k < reads.first[l + 1]; ++k) {
        const int t = reads.tensors[k], rank = owner[l];
        if (owner[t] == rank) continue;
        if (const int d = index(t, rank); d < 0)
          all_.first[first_.first[t] + count_.first[t]++] = {.to = rank, .reader = l, .read = in.when(l)};
        else if (turns && all_.first[d].read != in.when(l)) all_.first[d].read = {};
      }
    // A tensor comes within a Concat that the same rank reads if the rank reads it only after the Concat was computed: so
    // ranks still wait only for layers before theirs. Later Concats first: the first one that has a message counts.
    for (int c = n - 1; c >= 0; --c)
      for (int i = first_.first[c], end = i + count_.first[c]; i < end; ++i) {
        const auto& whole = all_.first[i];
        if (whole.within >= 0) continue;
        each_joined(in.net, c, [&](int t, std::int64_t offset) {
          const int d = index(t, whole.to);
          if (d < 0 || all_.first[d].tried == c) return;  // a tensor may occur twice in c
          auto& part = all_.first[d];
          const bool fits = layouts.first[t] == layouts.first[c] && keeps_place(in.net, t, c, offset, layouts.first[c]) &&
                            (!turns || (part.read == whole.read && in.when(t).always() && in.when(c).always()));
          part.within = fits && part.reader > c ? c : -1;
          part.offset = offset;
          part.tried = c;
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
    for (int i = first_.first[tensor], end = i + count_.first[tensor]; i < end; ++i)
      if (all_.first[i].to == rank) return i;
    return -1;
  }

  meta::array<int> first_, count_;  ///< by tensor, in all_
  meta::array<delivery> all_;
};

}  // namespace dice::schedule
