// Boards that are slower than this machine: tools/testbed emulates them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace dice::runtime {

/// How many times slower than its core a CPU rank computes: the variable DICE_COMPUTE_SLOWER; 1 without it. Messages are not
/// slower.
inline double compute_slower() {
  const char* given = std::getenv("DICE_COMPUTE_SLOWER");
  const double factor = given ? std::atof(given) : 1;
  return factor > 1 && factor < 1e6 ? factor : 1;
}

/// Processor time of the calling thread in ns, which other programs on its core do not change.
inline std::int64_t thread_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

}  // namespace dice::runtime
