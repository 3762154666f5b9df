#pragma once

#include <sched.h>
#include <time.h>

namespace dice::channels::mpi {

/// What a rank does between two looks at its messages: at first it only offers its core to others, for low latency, then it
/// sleeps, longer each time but at most 50 µs, so that a waiting rank does not slow the computing ones down.
class patience {
public:
  void reset() { turns_ = 0; }
  void pause() {
    if (turns_ < yields) {
      ++turns_;
      ::sched_yield();
      return;
    }
    const long microseconds = turns_ < yields + 4 ? 5 : turns_ < yields + 12 ? 20 : 50;
    if (turns_ < yields + 12) ++turns_;
    const timespec t{0, microseconds * 1000};
    ::nanosleep(&t, nullptr);
  }

private:
  static constexpr int yields = 200;
  int turns_ = 0;
};

}  // namespace dice::channels::mpi
