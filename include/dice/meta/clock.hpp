// Clocks, in nanoseconds. <chrono> costs the compiler more than all of this room.
#pragma once

#include <ctime>

#include <cstdint>

namespace dice::meta {

/// What a clock of the system shows.
inline std::int64_t time_of(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// The steady clock; that of std::chrono::steady_clock.
inline std::int64_t now() { return time_of(CLOCK_MONOTONIC); }

/// The time of day: since the beginning of 1970.
inline std::int64_t wall_time() { return time_of(CLOCK_REALTIME); }

/// Processor time of the calling thread, which other programs on its core do not change.
inline std::int64_t thread_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace dice::meta
