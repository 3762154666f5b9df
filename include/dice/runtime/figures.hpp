#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// Nanoseconds of the steady clock.
inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What a rank measures of a run. Times in nanoseconds of its own steady clock.
struct figures {
  std::int64_t computing = 0;         ///< in kernels
  std::int64_t waiting = 0;           ///< with no segment ready
  std::int64_t bytes_sent = 0;        ///< tensors, to other ranks
  std::vector<std::int64_t> entered;  ///< when each frame began to enter here; empty if the rank holds no graph input
  std::vector<std::int64_t> left;     ///< when the last graph output of each frame was ready here; empty if there is none
};

}  // namespace dice::runtime
