// How ranks with inputs learn which frames have left.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/paths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace dice::runtime {

/// The credits that a rank sends to others and receives from them, one for each frame that has left, in order. At most
/// `in_flight` are under way on a path.
class credits {
 public:
  /// `paths` are paths_of(plan, in_flight); those with credit_tag carry credits.
  credits(std::span<const channels::path> paths, int rank, channels::endpoint& end, int in_flight)
      : end_(end), in_flight_(in_flight) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].tag != credit_tag) continue;
      const line l{static_cast<int>(i), std::vector<std::int64_t>(in_flight)};
      if (paths[i].from == rank) given_.push_back(l);
      if (paths[i].to == rank) taken_.push_back(l);
    }
  }

  /// Sends the credits due for the first `left` frames, and receives those that have arrived, for at most `frames` frames.
  /// Throws std::runtime_error.
  void advance(std::int64_t left, std::int64_t frames) {
    for (auto& l : given_)
      while (l.begun < left && end_.sent(l.path, slot(l.begun))) {
        const int s = slot(l.begun);
        word(l, s) = l.begun++;
        end_.start_send(l.path, s, reinterpret_cast<const std::byte*>(&word(l, s)));
      }
    for (auto& l : taken_) {
      for (; l.done < l.begun && end_.received(l.path, slot(l.done)); ++l.done)
        if (word(l, slot(l.done)) != l.done) throw std::runtime_error("the transport has lost or mixed up messages");
      while (l.begun < frames && l.begun < l.done + in_flight_) {
        const int s = slot(l.begun++);
        end_.start_receive(l.path, s, reinterpret_cast<std::byte*>(&word(l, s)));
      }
    }
  }
  /// Whether all credits for `frames` frames are sent and received.
  bool idle(std::int64_t frames) const {
    for (const auto& l : given_) {
      if (l.begun < frames) return false;
      for (int s = 0; s < in_flight_; ++s)
        if (!end_.sent(l.path, s)) return false;
    }
    return std::all_of(taken_.begin(), taken_.end(), [&](const line& l) { return l.done == frames; });
  }
  /// How many frames, at most `most`, have left all other ranks, as far as known here.
  std::int64_t left(std::int64_t most) const {
    for (const auto& l : taken_) most = std::min(most, l.done);
    return most;
  }

 private:
  struct line {
    int path = 0;
    std::vector<std::int64_t> words{};  ///< the frames' numbers as they travel, by slot
    std::int64_t begun = 0;             ///< sent or posted to be received
    std::int64_t done = 0;              ///< received: frames that have left there
  };

  int slot(std::int64_t frame) const { return static_cast<int>(frame % in_flight_); }
  static std::int64_t& word(line& l, int slot) { return l.words[slot]; }

  channels::endpoint& end_;
  const int in_flight_;
  std::vector<line> given_, taken_;
};

}  // namespace dice::runtime
