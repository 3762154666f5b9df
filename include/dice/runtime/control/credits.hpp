// How ranks with inputs learn which frames have left.
#pragma once

#include "dice/meta/clock.hpp"
#include "dice/runtime/control/mailbox.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace dice::runtime {

/// The shortest of the delays of the last ten to twenty seconds, in nanoseconds.
class shortest_delay {
 public:
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t delay, std::int64_t now) {
    constexpr std::int64_t period = 10'000'000'000;
    if (now - since_ >= period) {
      before_ = now - since_ >= 2 * period ? unknown : now_;
      now_ = unknown;
      since_ = now;
    }
    now_ = std::min(now_, delay);
  }
  std::int64_t shortest() const { return std::min(before_, now_); }

 private:
  std::int64_t before_ = unknown, now_ = unknown, since_ = 0;
};

/// The credits that a rank gives to others and takes from them, one for each frame that has left, in order.
class credits {
 public:
  explicit credits(mailbox& box) : box_(box) {
    for (const int r : box_.receivers(kind)) given_.push_back({r});
    for (const int r : box_.senders(kind)) taken_.push_back({r});
    box_.set_reader(kind, [this](int from, const letter::words& says) {
      auto& a = *std::find_if(taken_.begin(), taken_.end(), [&](const account& t) { return t.rank == from; });
      ++a.frames;
      const auto now = meta::now();
      a.delay.add(now - says[0], now);
      return true;
    });
  }
  credits(const credits&) = delete;
  credits& operator=(const credits&) = delete;

  /// Gives the credits due for the first `left` frames, as far as there is room.
  void advance(std::int64_t left) {
    for (auto& a : given_)
      for (; a.frames < left && box_.has_room(kind, a.rank); ++a.frames) box_.send(kind, a.rank, {meta::now()});
  }
  /// Whether all credits for `frames` frames are given and taken. Some for the next run may have come, too.
  bool idle(std::int64_t frames) const {
    const auto has_all = [&](const account& a) { return a.frames >= frames; };
    return std::all_of(given_.begin(), given_.end(), has_all) && box_.all_sent(kind) &&
           std::all_of(taken_.begin(), taken_.end(), has_all);
  }
  /// How many frames, at most `most`, have left all other ranks, as far as known here.
  std::int64_t left(std::int64_t most) const {
    for (const auto& a : taken_) most = std::min(most, a.frames);
    return most;
  }
  /// How long letters of that rank seem to take, by the two clocks; shortest_delay::unknown if none has come.
  std::int64_t delay(int rank) const {
    const auto at = std::find_if(taken_.begin(), taken_.end(), [&](const account& a) { return a.rank == rank; });
    return at == taken_.end() ? shortest_delay::unknown : at->delay.shortest();
  }

 private:
  static constexpr auto kind = letter::kind::credit;
  struct account {
    int rank = 0;
    std::int64_t frames = 0;
    shortest_delay delay{};
  };

  mailbox& box_;
  std::vector<account> given_, taken_;
};

}  // namespace dice::runtime
