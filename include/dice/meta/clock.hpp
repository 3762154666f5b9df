// Clocks, in nanoseconds. <chrono> costs the compiler more than all of this room.
#pragma once

#include <ctime>

#include <cstdint>

namespace dice::meta {

namespace detail {
inline std::int64_t read(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}
}  // namespace detail

/// The steady clock; that of std::chrono::steady_clock.
inline std::int64_t now() { return detail::read(CLOCK_MONOTONIC); }

/// The time of day: since the beginning of 1970.
inline std::int64_t wall_time() { return detail::read(CLOCK_REALTIME); }

/// Processor time of the calling thread, which other programs on its core do not change.
inline std::int64_t thread_time() { return detail::read(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace dice::meta
