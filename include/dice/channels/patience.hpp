#pragma once

#include "dice/meta/clock.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace dice::channels {

/// What a rank does between two polls of its messages and its accelerator. At first it polls again at once: a short message
/// within a host takes less time than the system call of a yield. Then it yields its core. Finally it sleeps, each time for
/// a sixteenth of the time since its first sleep began, so that a waiting rank does not slow down those that compute.
class patience {
 public:
  /// What is waited for.
  enum class source {
    accelerator,  ///< of this host; sleeps at most 50 µs
    neighbour,    ///< a rank of this host; sleeps at most 1 ms
    network       ///< a rank of another host, whose messages take longer than a few polls; sleeps at most 1 ms
  };
  explicit patience(source from)
      : polls_(from == source::network ? 20 : 100),
        yields_(from == source::network ? 0 : 500),
        longest_(from == source::accelerator ? 50'000 : 1'000'000) {}

  void reset() { turns_ = 0; }
  void pause() {
    pause([](std::int64_t time) {
      const timespec nap{0, time};
      ::nanosleep(&nap, nullptr);
    });
  }
  /// `sleep(t)` sleeps for t nanoseconds, or less if it is woken.
  template <class Sleep> void pause(const Sleep& sleep) {
    if (turns_ < polls_ + yields_) {
      if (turns_++ >= polls_) ::sched_yield();
      return;
    }
    const auto time = meta::now();
    if (turns_ == polls_ + yields_) {
      ++turns_;
      since_ = time;
    }
    sleep(std::clamp<std::int64_t>((time - since_) / 16, 5'000, longest_));
  }

 private:
  int polls_, yields_;
  std::int64_t longest_;
  int turns_ = 0;
  std::int64_t since_ = 0;
};

}  // namespace dice::channels
