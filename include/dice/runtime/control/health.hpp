// How the ranks of a running job are, as rank 0 knows it.
#pragma once

#include "dice/frames/ends.hpp"
#include "dice/meta/clock.hpp"
#include "dice/runtime/control/mailbox.hpp"
#include "dice/this_host/temperature.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace dice::runtime {

/// What a rank says of itself. Times in nanoseconds; counts are of the run so far.
struct rank_health {
  std::int64_t heard = 0;  ///< when it said so, by rank 0's steady clock; 0: never
  std::int64_t frames = 0, computing = 0, waiting = 0;
  std::int64_t temperature = this_host::no_temperature;  ///< of its host
  bool enters = false, leaves = false;                   ///< it stamps frames; it holds graph outputs
  std::int64_t entered = 0;
  frames::stream_counts streams{};
  std::int64_t left = 0;                              ///< frames whose results have left
  std::int64_t latency_sum = 0, median = 0, p95 = 0;  ///< of their latencies; the latter two of the last 512 within a minute
  std::int64_t last_left = 0;                         ///< when `left` became what it is, by rank 0's clock; 0: no frame has
};

/// The latencies of the last frames.
class recent_latencies {
 public:
  void add(std::int64_t latency, std::int64_t now) {
    all_[static_cast<std::size_t>(count_++) % all_.size()] = {now, latency};
    sum_ += latency;
  }
  std::int64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }
  /// How long ago the last one came; 0 if none has.
  std::int64_t age(std::int64_t now) const {
    return count_ == 0 ? 0 : now - all_[static_cast<std::size_t>(count_ - 1) % all_.size()].first;
  }
  /// Median and 95th percentile of those that are not older than a minute; 0 if there are none.
  std::pair<std::int64_t, std::int64_t> median_and_p95(std::int64_t now) const {
    constexpr std::int64_t minute = 60'000'000'000;
    std::vector<std::int64_t> recent;
    for (std::size_t i = 0; i < std::min(all_.size(), static_cast<std::size_t>(count_)); ++i)
      if (now - all_[i].first <= minute) recent.push_back(all_[i].second);
    if (recent.empty()) return {};
    std::sort(recent.begin(), recent.end());
    return {recent[(recent.size() - 1) / 2], recent[(recent.size() - 1) * 95 / 100]};
  }

 private:
  std::array<std::pair<std::int64_t, std::int64_t>, 512> all_{};  ///< when, and how long
  std::int64_t count_ = 0, sum_ = 0;
};

/// Each rank tells rank 0 once a second how it is. Rank 0's program may ask at any time, in any thread.
class health {
 public:
  static constexpr std::int64_t period = 1'000'000'000;  ///< between two reports of a rank

  health(mailbox& box, int rank, std::size_t ranks) : box_(box), rank_(rank), known_(ranks) {
    box_.set_reader(kind, [this](int from, const letter::words& says) {
      const std::lock_guard lock(mutex_);
      read(known_[static_cast<std::size_t>(from)], says);
      return true;
    });
  }
  health(const health&) = delete;
  health& operator=(const health&) = delete;

  /// Whether this rank says how it is; off at first.
  void turn(bool on) { on_ = on; }
  bool on() const { return on_; }
  /// A frame's results have left here, so long after it came.
  void left(std::int64_t latency) {
    if (on_) latencies_.add(latency, meta::now());
  }
  /// Whether it is time for a report.
  bool due() const { return on_ && meta::now() >= next_; }
  /// Reports `here()`, a rank_health without the figures of latencies, if it is time.
  template <class Here> void advance(const Here& here) {
    if (!due() || (rank_ != 0 && !box_.has_room(kind, 0))) return;
    const auto now = meta::now();
    next_ = now + period;
    rank_health mine = here();
    mine.temperature = this_host::temperature();
    mine.left = latencies_.count();
    mine.latency_sum = latencies_.sum();
    std::tie(mine.median, mine.p95) = latencies_.median_and_p95(now);
    mine.last_left = latencies_.age(now);
    for (const auto& says : words_of(mine)) {
      if (rank_ != 0) {
        if (box_.has_room(kind, 0)) box_.send(kind, 0, says);
        continue;
      }
      const std::lock_guard lock(mutex_);
      read(known_[0], says);
    }
  }
  /// What the ranks have said last.
  std::vector<rank_health> ranks() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }

 private:
  static constexpr auto kind = letter::kind::health;

  // Three letters: what a rank computes; what enters; what leaves.
  static std::vector<letter::words> words_of(const rank_health& h) {
    std::vector<letter::words> out{{0, h.frames, h.computing, h.waiting, h.temperature}};
    if (h.enters) out.push_back({1, h.entered, h.streams.read, h.streams.dropped, h.streams.restarts});
    if (h.leaves) out.push_back({2, h.left, h.latency_sum, h.median, h.p95, h.last_left});
    return out;
  }
  static void read(rank_health& h, const letter::words& says) {
    h.heard = meta::now();
    switch (says[0]) {
      case 0:
        std::tie(h.frames, h.computing, h.waiting, h.temperature) = std::tuple(says[1], says[2], says[3], says[4]);
        return;
      case 1:
        h.enters = true;
        h.entered = says[1];
        h.streams = {says[2], says[3], says[4]};
        return;
      default:
        h.leaves = true;
        h.last_left = says[1] > 0 ? h.heard - says[5] : 0;
        std::tie(h.left, h.latency_sum, h.median, h.p95) = std::tuple(says[1], says[2], says[3], says[4]);
    }
  }

  mailbox& box_;
  const int rank_;
  bool on_ = false;
  std::int64_t next_ = 0;
  recent_latencies latencies_;
  mutable std::mutex mutex_;
  std::vector<rank_health> known_;  ///< by rank
};

}  // namespace dice::runtime
