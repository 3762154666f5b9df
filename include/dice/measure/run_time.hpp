// How long something takes that runs again and again: for --measure.
#pragma once

#include "dice/meta/clock.hpp"
#include "dice/meta/median.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dice::measure::detail {

/// The median run in ms, as a thread sees it that always has its core. In a container, on a hot board or beside other
/// programs it has the core only for a part of the time: it pauses for many ms, within some of the runs or between two. Then
/// the median of the processor time is found, and how much longer everything took than its processor time.
class run_time {
 public:
  struct result {
    double ms = 0;
    bool paused = false;  ///< processor time; see lasting()
  };

  /// Calls once(false), which returns the ns of a run, and, if the thread pauses, once(true), which returns the ns of
  /// processor time; for 0.2 s each, and at least nine times.
  template <class Once> result median_of(const Once& once) {
    constexpr double unpaused = 0.97;  // of the time. Interrupts take some, too
    const auto from = meta::now(), had = meta::thread_time();
    auto times = repeat([&] { return once(false); });
    // Query the processor time only now: the system lets a thread that has used up its time pause at calls like this one.
    const auto all = meta::now() - from, own = meta::thread_time() - had;
    const bool paused = static_cast<double>(own) <= unpaused * static_cast<double>(all);
    if (paused) {
      times = repeat([&] { return once(true); });
      all_ += meta::now() - from;
      own_ += meta::thread_time() - had;
    }
    return {meta::median(std::move(times)) * 1e-6, paused};
  }
  /// How long a run lasts on average, in ms. Call it when all is measured: the longer, the better is the share of the core
  /// known.
  double lasting(const result& r) const {
    return r.paused && own_ > 0 ? r.ms * (static_cast<double>(all_) / static_cast<double>(own_)) : r.ms;
  }

 private:
  template <class Once> static std::vector<double> repeat(const Once& once) {
    constexpr std::int64_t enough = 200'000'000;    // ns
    constexpr std::size_t least = 9, most = 20000;  // runs
    std::vector<double> out;
    for (const auto from = meta::now(); out.size() < most && (out.size() < least || meta::now() - from < enough);)
      out.push_back(static_cast<double>(once()));
    return out;
  }

  std::int64_t all_ = 0, own_ = 0;  ///< ns while the thread paused now and then, and its processor time
};

}  // namespace dice::measure::detail
