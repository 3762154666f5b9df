#pragma once

#include <sched.h>
#include <time.h>

namespace dice::channels {

/// What a rank does between two polls of its messages and its accelerator. At first it polls again at once: a short message
/// within a host takes less time than the system call of a yield. Then it yields its core, and then it sleeps, longer each
/// time but at most 50 µs, so that a waiting rank does not slow down the computing ones.
class patience {
 public:
  void reset() { turns_ = 0; }
  void pause() {
    if (turns_ < spins + yields) {
      if (turns_++ >= spins) ::sched_yield();
      return;
    }
    const int naps = turns_ - spins - yields;
    const timespec t{0, naps < 4 ? 5'000 : naps < 12 ? 20'000 : 50'000};
    if (naps < 12) ++turns_;
    ::nanosleep(&t, nullptr);
  }

 private:
  static constexpr int spins = 100, yields = 500;
  int turns_ = 0;
};

}  // namespace dice::channels
