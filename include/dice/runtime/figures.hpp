#pragma once

#include "dice/frames/ends.hpp"
#include "dice/meta/clock.hpp"
#include "dice/this_host/core_use.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dice::runtime {

using frames::stream_counts;
using meta::now;

/// When frames 0, 1, 2, … passed a point. Of a long run only every second, fourth, … frame is kept, so that memory is
/// bounded.
class frame_times {
 public:
  void add(std::int64_t time) {
    if (count_ == 0) first_ = time;
    last_ = time;
    if (count_++ % step_ != 0) return;
    kept_.push_back(time);
    if (kept_.size() < most) return;
    for (std::size_t i = 0; i < most / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(most / 2);
    step_ *= 2;
  }
  std::int64_t count() const { return count_; }  ///< frames that have passed
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }
  std::int64_t step() const { return step_; }
  /// The times of frames 0, step(), 2 step(), …
  const std::vector<std::int64_t>& kept() const { return kept_; }

  static constexpr std::size_t most = 1 << 17;

 private:
  std::int64_t count_ = 0, first_ = 0, last_ = 0, step_ = 1;
  std::vector<std::int64_t> kept_;
};

/// What a rank measures of a run. Times in nanoseconds of its own steady clock.
struct figures {
  std::int64_t computing = 0;   ///< in kernels
  std::int64_t waiting = 0;     ///< with no segment ready
  std::int64_t entering = 0;    ///< in sources, which read and convert frames
  std::int64_t bytes_sent = 0;  ///< tensors, to other ranks
  frame_times entered;          ///< when each frame began to enter here; none if the rank holds no graph input
  frame_times left;             ///< when the last graph output of each frame was ready here; none if there is none
  stream_counts streams{};
  this_host::core_use cores{};
};

}  // namespace dice::runtime
