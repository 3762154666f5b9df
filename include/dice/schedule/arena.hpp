// Offsets of buffers by their lifetimes.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::schedule {

constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// The blocks in use at one step of a walk over buffers in order of their first steps, sorted by address.
class live_blocks {
 public:
  struct block {
    std::int64_t from, to;
    int until;
  };
  /// Forgets what ends before `step`.
  constexpr void advance(int step) {
    if (soonest_ >= step) return;
    soonest_ = std::numeric_limits<int>::max();
    block* kept = blocks_.begin();  // pointers: calls cost most of a constant evaluation
    for (block *b = kept, *end = blocks_.end(); b != end; ++b) {
      if (b->until < step) continue;
      if (b->until < soonest_) soonest_ = b->until;
      if (kept != b) *kept = *b;
      ++kept;
    }
    blocks_.truncate(static_cast<int>(kept - blocks_.begin()));
  }
  constexpr void insert(int position, const block& b) {
    blocks_.insert(position, b);
    soonest_ = std::min(soonest_, b.until);
  }
  constexpr const block* begin() const { return blocks_.begin(); }
  constexpr const block* end() const { return blocks_.end(); }

 private:
  meta::array<block> blocks_;
  int soonest_ = std::numeric_limits<int>::max();  ///< the earliest `until`
};

/// Gives every buffer of the space `where` an offset such that buffers alive at the same step do not overlap: first fit in
/// order of first steps, in which the buffers must come. Returns the bytes needed.
constexpr std::int64_t lay_out(meta::array<buffer>& buffers, int first, int last, space where) {
  live_blocks live;
  std::int64_t high = 0;
  for (int b = first; b < last; ++b) {
    auto& buf = buffers[b];
    if (buf.at.where != where || buf.bytes == 0) continue;
    live.advance(buf.first_step);
    const std::int64_t size = aligned(buf.bytes);
    std::int64_t offset = 0;
    const live_blocks::block *first_above = live.begin(), *end = live.end();
    while (first_above != end && first_above->from - offset < size) offset = first_above++->to;
    live.insert(static_cast<int>(first_above - live.begin()), {offset, offset + size, buf.last_step});
    buf.at.offset = offset;
    high = std::max(high, offset + size);
  }
  return high;
}

}  // namespace dice::schedule
