// Buffer offsets, assigned by lifetime.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::schedule {

constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// The blocks in use at one step of a walk over buffers in order of their first steps. Block sizes are rounded up to the
/// alignment. Linked lists by address and by last step: most blocks of a plan live long, and constant evaluation pays for
/// each block that it visits or moves.
class live_blocks {
 public:
  /// For a walk over steps [first, last) with at most `count` blocks.
  constexpr live_blocks(int first, int last, int count) : step_(first), first_(first), ending_(last - first) {
    all_.reserve(count + 1);
    all_.push_back({.from = std::numeric_limits<std::int64_t>::max()});  // sentinel before the first and after the last
  }
  /// Removes the blocks that end before `step`.
  constexpr void advance(int step) {
    for (; step_ < step; ++step_)
      for (int b = ending_[step_ - first_]; b != 0; b = all_[b].next_ending) forget(b);
  }
  /// Adds a block of `bytes` at the lowest address with room for it, alive until step `until`. Returns the address.
  constexpr std::int64_t add(std::int64_t bytes, int until) {
    const std::int64_t size = aligned(bytes);
    int below = packed_;
    while (all_[all_[below].after].from - all_[below].to < size) below = all_[below].after;
    const std::int64_t from = all_[below].to;
    insert(below, from, from + size, until);
    return from;
  }

 private:
  struct block {
    std::int64_t from = 0, to = 0;
    int before = 0, after = 0;  ///< by address
    int next_ending = 0;        ///< another with the same last step, or 0
  };
  constexpr void insert(int below, std::int64_t from, std::int64_t to, int until) {
    const int b = all_.size(), above = all_[below].after;
    int& ending = ending_[until - first_];
    all_.push_back({from, to, below, above, ending});
    all_[below].after = all_[above].before = ending = b;
    while (all_[all_[packed_].after].from == all_[packed_].to) packed_ = all_[packed_].after;
  }
  constexpr void forget(int b) {
    const auto& gone = all_[b];
    if (gone.from < all_[packed_].to) packed_ = gone.before;
    all_[gone.before].after = gone.after;
    all_[gone.after].before = gone.before;
  }

  meta::array<block> all_;
  int packed_ = 0;  ///< the highest block with no gap below it
  int step_, first_;
  meta::array<int> ending_;  ///< by last step: the first block of its list, or 0
};

/// Assigns offsets to the buffers of rank `r` in space `where` so that buffers alive at the same step do not overlap: first
/// fit in order of first steps, by which the buffers must be sorted. Returns the bytes needed.
constexpr std::int64_t lay_out(meta::array<buffer>& buffers, const rank_program& r, space where) {
  live_blocks live(r.first_step, r.last_step, r.last_buffer - r.first_buffer);
  std::int64_t high = 0;
  for (int b = r.first_buffer; b < r.last_buffer; ++b) {
    auto& buf = buffers[b];
    if (buf.at.where != where || buf.bytes == 0) continue;
    live.advance(buf.first_step);
    buf.at.offset = live.add(buf.bytes, buf.last_step);
    high = std::max(high, buf.at.offset + aligned(buf.bytes));
  }
  return high;
}

}  // namespace dice::schedule
