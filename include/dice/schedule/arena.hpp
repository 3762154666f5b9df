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
    int kept = 0;
    soonest_ = std::numeric_limits<int>::max();
    for (int i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].until < step) continue;
      soonest_ = std::min(soonest_, blocks_[i].until);
      if (kept != i) blocks_[kept] = blocks_[i];
      ++kept;
    }
    blocks_.truncate(kept);
  }
  constexpr void insert(int position, const block& b) {
    blocks_.insert(position, b);
    soonest_ = std::min(soonest_, b.until);
  }
  constexpr int size() const { return blocks_.size(); }
  constexpr const block& operator[](int i) const { return blocks_[i]; }

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
    int position = 0;
    while (position < live.size() && live[position].from - offset < size) offset = live[position++].to;
    live.insert(position, {offset, offset + size, buf.last_step});
    buf.at.offset = offset;
    high = std::max(high, offset + size);
  }
  return high;
}

}  // namespace dice::schedule
