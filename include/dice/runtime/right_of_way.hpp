// Which of a rank's segments goes first when several can run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace dice::runtime {

/// What a rank computes as one of several replicas gives way to the rest of its work, for which other ranks may be waiting,
/// but for no longer than it takes itself: frames leave in order, so one that waited on would hold up all later ones.
class right_of_way {
 public:
  explicit right_of_way(std::size_t segments) : shortest_(segments, std::numeric_limits<std::int64_t>::max()) {}

  /// A run of the segment has ended, after `time` ns.
  void ran(int segment, std::int64_t time) { shortest_[segment] = std::min(shortest_[segment], time); }

  /// Whether another segment goes first, although frame `frame` can run the segment, which is a replica's, since the first
  /// such call for both. `now` is in ns. Gives way for as long as the segment has taken at least; until it has run, always.
  bool gives_way(int segment, std::int64_t frame, std::int64_t now) {
    if (segment_ != segment || frame_ != frame) {
      segment_ = segment;
      frame_ = frame;
      since_ = now;
    }
    return now - since_ < shortest_[segment];
  }

 private:
  std::vector<std::int64_t> shortest_;  ///< by segment: ns that it has taken at least
  int segment_ = -1;                    ///< what gives way
  std::int64_t frame_ = -1;
  std::int64_t since_ = 0;
};

}  // namespace dice::runtime
