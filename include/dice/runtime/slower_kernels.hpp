// How long kernels take on a host that plays a slower one.
#pragma once

#include "dice/meta/clock.hpp"
#include "dice/runtime/program.hpp"
#include "dice/this_host/cores.hpp"
#include "dice/this_host/emulated_speed.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <set>
#include <vector>

namespace dice::runtime {

/// Measures how long kernels work, and says how long they would on a host that is `factor` times slower. Counts the
/// processor time of the team's threads, which other programs on its cores do not change.
class slower_kernels {
 public:
  explicit slower_kernels(const team& threads, double factor = this_host::compute_slower())
      : threads_(threads), factor_(factor) {}

  /// Whether this host plays a slower one. Otherwise time() is how long the kernel worked here.
  bool any() const { return factor_ > 1; }
  /// A kernel begins. In the thread that calls all kernels.
  void begin() {
    if (clocks_.empty()) find_clocks();
    before_ = worked();
  }
  /// How long the kernel that has just ended would take, in ns. More threads than cores work one after the other.
  std::int64_t time() const {
    const auto now = worked();
    const auto together = (now.all - before_.all) / side_by_side_;
    return static_cast<std::int64_t>(static_cast<double>(std::max(now.own - before_.own, together)) * factor_);
  }

 private:
  struct times {
    std::int64_t own = 0, all = 0;  ///< of the calling thread, and of all threads of its team
  };
  times worked() const {
    times out;
    for (const auto clock : clocks_) out.all += meta::time_of(clock);
    out.own = clocks_.size() == 1 ? out.all : meta::thread_time();
    return out;
  }
  void find_clocks() {
    clocks_.assign(1, CLOCK_THREAD_CPUTIME_ID);
    cores_.assign(1, this_host::usable_cores());
    if (threads_.each) {
      std::int64_t count = 1;
      const auto number = [](void* to, std::int64_t k, std::int64_t n) {
        if (k == 0) *static_cast<std::int64_t*>(to) = n;
      };
      threads_.each(number, &count);
      clocks_.resize(static_cast<std::size_t>(count));
      cores_.resize(clocks_.size());
      const auto note = [](void* to, std::int64_t k, std::int64_t) {
        auto& all = *static_cast<slower_kernels*>(to);
        ::pthread_getcpuclockid(::pthread_self(), &all.clocks_[static_cast<std::size_t>(k)]);
        all.cores_[static_cast<std::size_t>(k)] = this_host::usable_cores();
      };
      threads_.each(note, this);
    }
    std::set<int> together;  // each thread may have one of its own
    for (const auto& own : cores_) together.insert(own.begin(), own.end());
    side_by_side_ = static_cast<std::int64_t>(std::min(clocks_.size(), std::max<std::size_t>(together.size(), 1)));
  }

  const team& threads_;
  const double factor_;
  std::vector<clockid_t> clocks_;        ///< by thread of the team
  std::vector<std::vector<int>> cores_;  ///< that each may use
  std::int64_t side_by_side_ = 1;        ///< how many of them can work at once
  times before_;
};

}  // namespace dice::runtime
