// How long a call may wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace dice::frames {

/// When a call stops waiting.
using deadline = std::chrono::steady_clock::time_point;
inline constexpr auto at_once = deadline::min(), never = deadline::max();

/// The deadline of a call that waits at most `time` from now, however long that is.
template <class Rep, class Period> deadline deadline_in(const std::chrono::duration<Rep, Period>& time) {
  const std::chrono::duration<double> seconds = time;
  if (!(seconds.count() > 0)) return at_once;
  if (seconds > std::chrono::hours(24 * 36525)) return never;
  return std::chrono::steady_clock::now() + std::chrono::ceil<deadline::duration>(time);
}

/// Waits until `ready` holds, but no longer than `until`. Returns whether it holds.
template <class Ready>
bool await(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, deadline until, const Ready& ready) {
  if (ready() || until == at_once) return ready();
  if (until != never) return changed.wait_until(lock, until, ready);
  changed.wait(lock, ready);
  return true;
}

}  // namespace dice::frames
