#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dice::job {

/// Converts times of this rank's steady clock to rank 0's. The offset between the two was measured before the first frame
/// and after the last one, since clocks drift (20 ppm are 1 ms in 50 s), and is interpolated linearly.
class clock_shift {
 public:
  /// When the offset was measured, by this rank's clock, and what to add to that clock.
  struct sample {
    std::int64_t at = 0, offset = 0;
  };
  clock_shift(sample before, sample after) : before_(before), after_(after) {}

  std::int64_t operator()(std::int64_t time) const {
    const auto whole = static_cast<double>(std::max<std::int64_t>(after_.at - before_.at, 1));
    const double part = std::clamp(static_cast<double>(time - before_.at) / whole, 0.0, 1.0);
    return time + before_.offset + std::llround(part * static_cast<double>(after_.offset - before_.offset));
  }

 private:
  sample before_, after_;
};

}  // namespace dice::job
