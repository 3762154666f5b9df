// The cores that the calling thread may use, as the operating system reports them.
#pragma once

#include <sched.h>

#include <cstddef>
#include <span>
#include <vector>

namespace dice::this_host {

inline constexpr int max_core = 1 << 20;  ///< no system has a core of this number

/// Cores that the calling thread may use, ascending; empty if the system does not report them.
inline std::vector<int> usable_cores() {
  std::vector<int> out;
  for (int limit = 1024; limit <= max_core; limit *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(limit));
    if (!set) break;
    const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    for (int c = 0; known && c < limit; ++c)
      if (CPU_ISSET_S(static_cast<std::size_t>(c), bytes, set)) out.push_back(c);
    CPU_FREE(set);
    if (known) break;
  }
  return out;
}

/// Restricts the calling thread, and those that it starts later, to `cores`; those from max_core on are left out. False if
/// the system refuses.
inline bool use_cores(std::span<const int> cores) {
  int limit = 1024;
  for (int c : cores)
    if (c >= limit && c < max_core) limit = c + 1;
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(limit));
  if (!set) return false;
  const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
  CPU_ZERO_S(bytes, set);
  for (int c : cores)
    if (c < limit) CPU_SET_S(static_cast<std::size_t>(c), bytes, set);
  const bool done = ::sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

}  // namespace dice::this_host
