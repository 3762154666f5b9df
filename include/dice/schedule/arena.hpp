// Buffer offsets, assigned by lifetime.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/schedule/program.hpp"

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
    const auto all = std::numeric_limits<std::int64_t>::max();
    all_.push_back({.from = all, .room = all});  // sentinel before the first and after the last
  }
  /// Removes the blocks that end before `step`.
  constexpr void advance(int step) {
    for (; step_ < step; ++step_)
      for (int b = ending_.first[step_ - first_]; b != 0; b = all_.first[b].next_ending) forget(b);
  }
  /// Adds a block of `bytes` at the lowest address with room for it, alive until step `until`. Returns the address.
  constexpr std::int64_t add(std::int64_t bytes, int until) {
    const std::int64_t size = aligned(bytes);
    const block* all = all_.first;
    int below = packed_;
    while (all[below].room < size) below = all[below].after;
    const std::int64_t from = all[below].to;
    insert(below, from, from + size, until);
    return from;
  }

 private:
  struct block {
    std::int64_t from = 0, to = 0;
    int before = 0, after = 0;  ///< by address
    std::int64_t room = 0;      ///< free bytes between this one and the one after it
    int next_ending = 0;        ///< another with the same last step, or 0
  };
  constexpr void insert(int below, std::int64_t from, std::int64_t to, int until) {
    block* all = all_.first;  // which has room for all
    const int b = all_.size(), above = all[below].after;
    int& ending = ending_.first[until - first_];
    all_.push_back({from, to, below, above, all[below].room - (to - from), ending});
    all[below].after = all[above].before = ending = b;
    all[below].room = 0;
    while (all[packed_].room == 0) packed_ = all[packed_].after;
  }
  constexpr void forget(int b) {
    block* all = all_.first;
    const int before = all[b].before, after = all[b].after;
    if (all[b].from < all[packed_].to) packed_ = before;
    all[before].after = after;
    all[after].before = before;
    all[before].room += all[b].to - all[b].from + all[b].room;
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
    auto& buf = buffers.first[b];
    if (buf.at.where != where || buf.bytes == 0) continue;
    live.advance(buf.first_step);
    buf.at.offset = live.add(buf.bytes, buf.last_step);
    if (const auto end = buf.at.offset + aligned(buf.bytes); end > high) high = end;
  }
  return high;
}

}  // namespace dice::schedule
