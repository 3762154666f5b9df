// How the ranks of a stream learn the number of its frames.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/paths.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// Each rank with graph inputs announces to all others how many frames its source has, once it knows. A rank that fails
/// announces the failure. So a rank sends at most two numbers to each other rank.
class frame_count {
 public:
  /// `paths` are paths_of(plan, in_flight); those with `tag`, notice_tag(plan), carry notices. `inputs` is the number of
  /// ranks with graph inputs.
  frame_count(std::span<const channels::path> paths, int tag, int rank, int inputs, channels::endpoint& end)
      : end_(end), inputs_(inputs) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].tag != tag) continue;
      if (paths[i].from == rank) sent_.push_back({.path = static_cast<int>(i)});
      if (paths[i].to == rank) received_.push_back({.path = static_cast<int>(i)});
    }
  }

  /// Call it once, before the other functions.
  void post() {
    for (auto& n : received_)
      for (; n.begun < 2; ++n.begun) end_.start_receive(n.path, n.begun, reinterpret_cast<std::byte*>(&n.words[n.begun]));
  }
  /// The number of frames, once all ranks with inputs have announced it; own_total() is the total of this rank's source, or
  /// -1. Throws channels::stopped if another rank has failed; else std::runtime_error if the numbers differ, and what
  /// own_total() throws.
  template <class Total> std::optional<std::int64_t> advance(const Total& own_total) {
    for (auto& n : received_)
      for (; n.done < 2 && end_.received(n.path, n.done); ++n.done) {
        if (n.words[n.done] == failed) throw channels::stopped();
        take(n.words[n.done]);
      }
    if (const std::int64_t own = own_total(); own >= 0 && !own_announced_) {
      own_announced_ = true;
      announce(own);
      take(own);
    }
    return known_ > 0 && known_ == inputs_ ? std::optional(total_) : std::nullopt;
  }
  /// Announces to the other ranks that this one failed.
  void fail() { announce(failed); }

 private:
  static constexpr std::int64_t failed = -1;
  struct notices {
    int path = 0;
    std::array<std::int64_t, 2> words{};
    int begun = 0, done = 0;
  };

  void announce(std::int64_t word) {
    for (auto& n : sent_) {
      n.words[n.begun] = word;
      end_.start_send(n.path, n.begun, reinterpret_cast<const std::byte*>(&n.words[n.begun]));
      ++n.begun;
    }
  }
  void take(std::int64_t total) {
    if (known_++ > 0 && total != total_)
      throw std::runtime_error("the graph inputs got different numbers of frames, " + std::to_string(total_) + " and " +
                               std::to_string(total) + "; push the same number to each");
    total_ = total;
  }

  channels::endpoint& end_;
  const int inputs_;  ///< ranks with graph inputs
  std::vector<notices> sent_, received_;
  std::int64_t total_ = 0;
  int known_ = 0;               ///< numbers received, this rank's included
  bool own_announced_ = false;  ///< this rank has
};

}  // namespace dice::runtime
