// How the ranks of a stream learn the number of its frames.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/paths.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// Each rank with graph inputs announces to all others how many frames its source has, once it knows. A rank that is asked
/// to stop announces that, with the number of frames that have entered there; then all ranks with inputs do the same, unless
/// they have announced their number, and the largest number counts: these frames are finished. A rank that fails announces
/// the failure. Several runs may follow each other on the same paths: a rank may be one run ahead of another.
class frame_count {
 public:
  /// `paths` are paths_of(plan, in_flight); those with `tag`, notice_tag(plan), carry notices. `inputs` are the ranks
  /// with graph inputs.
  frame_count(std::span<const channels::path> paths, int tag, int rank, std::span<const int> inputs, channels::endpoint& end)
      : end_(end), inputs_(static_cast<int>(inputs.size())) {
    const auto has_input = [&](int r) { return std::find(inputs.begin(), inputs.end(), r) != inputs.end(); };
    counts_here_ = has_input(rank);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].tag != tag) continue;
      if (paths[i].from == rank) sent_.push_back({.path = static_cast<int>(i)});
      if (paths[i].to == rank) received_.push_back({.path = static_cast<int>(i), .counts = has_input(paths[i].from)});
    }
  }

  /// A run begins. Call it before the other functions.
  void begin() {
    total_ = 0, known_ = 0, own_announced_ = false, cut_short_ = false,
    may_enter_ = std::numeric_limits<std::int64_t>::max();
    ++run_;
    for (auto& n : received_)
      while (n.begun < 2) receive(n);
  }
  /// The number of frames, once all ranks with inputs have announced it; own_total() is the total of this rank's source, or
  /// -1; `entered` frames have entered here, and `stops` asks to stop. Throws channels::stopped if another rank has failed;
  /// else std::runtime_error if the numbers differ, and what own_total() throws. Once a rank has asked to stop, own_total()
  /// is not called: Ctrl-C also ends the program that makes the frames, and how that leaves the source does not matter.
  template <class Total> std::optional<std::int64_t> advance(const Total& own_total, std::int64_t entered, bool stops) {
    for (auto& n : received_)
      for (; end_.received(n.path, n.done % 2); ++n.done, receive(n)) {
        const auto word = n.words[n.done % 2];
        if (word == failed) throw channels::stopped();
        if (n.counts && n.runs == run_) break;  // it is about the next run
        n.runs += n.counts;
        take(word, n.counts && n.runs == run_);
      }
    if (stops || stopping_) {
      if (!own_announced_) {
        own_announced_ = true;
        announce(stop_at - entered);
        take(stop_at - entered, counts_here_);
        may_enter_ = entered;
      }
    } else if (const std::int64_t own = own_total(); own >= 0 && !own_announced_) {
      own_announced_ = true;
      announce(own);
      take(own, counts_here_);
    }
    if (known_ == 0 || known_ < inputs_) return std::nullopt;
    return may_enter_ = total_;
  }
  /// Only frames before this one may enter, as far as known.
  std::int64_t may_enter() const { return may_enter_; }
  /// Whether a rank with inputs was asked to stop before its source ended; when the number of frames is known, the same in
  /// every rank.
  bool cut_short() const { return cut_short_; }
  /// Announces to the other ranks that this one failed.
  void fail() { announce(failed); }

 private:
  static constexpr std::int64_t failed = -1, stop_at = -2;  ///< stop_at - n: asks to stop after n frames
  struct notices {
    int path = 0;
    bool counts = false;  ///< from a rank with inputs
    std::array<std::int64_t, 3> words{};
    int begun = 0, done = 0;  ///< of all runs
    int runs = 0;             ///< whose number is known
  };

  void announce(std::int64_t word) {
    for (auto& n : sent_) {
      const int slot = n.begun++ % 3;
      n.words[slot] = word;
      end_.start_send(n.path, slot, bytes(n, slot));
    }
  }
  void receive(notices& n) {
    const int slot = n.begun++ % 2;
    end_.start_receive(n.path, slot, bytes(n, slot));
  }
  static std::byte* bytes(notices& n, int slot) { return reinterpret_cast<std::byte*>(&n.words[slot]); }
  void take(std::int64_t word, bool counts) {
    stopping_ = stopping_ || word <= stop_at;
    if (!counts) return;
    cut_short_ = cut_short_ || word <= stop_at;
    const auto total = word <= stop_at ? stop_at - word : word;
    if (known_++ > 0 && total != total_ && !stopping_)
      throw std::runtime_error("the graph inputs got different numbers of frames, " + std::to_string(total_) + " and " +
                               std::to_string(total) + "; push the same number to each");
    total_ = std::max(total_, total);
  }

  channels::endpoint& end_;
  const int inputs_;  ///< ranks with graph inputs
  std::vector<notices> sent_, received_;
  int run_ = 0;  ///< from 1 on
  std::int64_t total_ = 0;
  int known_ = 0;               ///< numbers received, this rank's included
  bool own_announced_ = false;  ///< this rank has
  bool counts_here_ = false;    ///< this rank has inputs
  bool stopping_ = false;       ///< this run, and those that follow
  bool cut_short_ = false;      ///< this run
  std::int64_t may_enter_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace dice::runtime
