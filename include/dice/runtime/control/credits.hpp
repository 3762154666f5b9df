// How ranks with inputs learn which frames have left.
#pragma once

#include "dice/runtime/control/mailbox.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// The credits that a rank gives to others and takes from them, one for each frame that has left, in order.
class credits {
 public:
  explicit credits(mailbox& box) : box_(box) {
    for (const int r : box_.receivers(kind)) given_.push_back({r});
    for (const int r : box_.senders(kind)) taken_.push_back({r});
    box_.set_reader(kind, [this](int from, const letter::words&) {
      ++std::find_if(taken_.begin(), taken_.end(), [&](const account& a) { return a.rank == from; })->frames;
      return true;
    });
  }
  credits(const credits&) = delete;
  credits& operator=(const credits&) = delete;

  /// Gives the credits due for the first `left` frames, as far as there is room.
  void advance(std::int64_t left) {
    for (auto& a : given_)
      for (; a.frames < left && box_.has_room(kind, a.rank); ++a.frames) box_.send(kind, a.rank, {});
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

 private:
  static constexpr auto kind = letter::kind::credit;
  struct account {
    int rank = 0;
    std::int64_t frames = 0;
  };

  mailbox& box_;
  std::vector<account> given_, taken_;
};

}  // namespace dice::runtime
