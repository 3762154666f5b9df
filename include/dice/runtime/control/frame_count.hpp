// How the ranks of a stream learn the number of its frames.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/control/mailbox.hpp"

#include <algorithm>
#include <array>
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
/// the failure. Several runs may follow each other: a rank may be one run ahead of another.
class frame_count {
 public:
  /// `inputs` are the ranks with graph inputs.
  frame_count(mailbox& box, int rank, std::span<const int> inputs)
      : box_(box), inputs_(static_cast<int>(inputs.size())), receivers_(box.receivers(kind)) {
    const auto has_input = [&](int r) { return std::find(inputs.begin(), inputs.end(), r) != inputs.end(); };
    counts_here_ = has_input(rank);
    for (const int r : box_.senders(kind)) received_.push_back({.rank = r, .counts = has_input(r)});
    box_.set_reader(kind, [this](int from, const letter::words& says) {
      return std::find_if(received_.begin(), received_.end(), [&](const notices& n) { return n.rank == from; })
          ->keep(says[0]);
    });
  }
  frame_count(const frame_count&) = delete;
  frame_count& operator=(const frame_count&) = delete;

  /// A run begins. Call it before the other functions.
  void begin() {
    total_ = 0;
    known_ = 0;
    own_announced_ = false;
    cut_short_ = false;
    may_enter_ = std::numeric_limits<std::int64_t>::max();
    ++run_;
  }
  /// The number of frames, once all ranks with inputs have announced it; own_total() is the total of this rank's source, or
  /// -1; `entered` frames have entered here, and `stops` asks to stop. Throws channels::stopped if another rank has failed;
  /// else std::runtime_error if the numbers differ, and what own_total() throws. Once a rank has asked to stop, own_total()
  /// is not called: Ctrl-C also ends the program that makes the frames, and the state in which that leaves the source does
  /// not matter.
  template <class Total> std::optional<std::int64_t> advance(const Total& own_total, std::int64_t entered, bool stops) {
    for (auto& n : received_)
      for (; n.done < n.begun; ++n.done) {
        const auto word = n.words[n.done % most_kept];
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
  /// The number of frames that another rank has announced while this one has not announced its own; else -1.
  std::int64_t announced() const { return known_ > 0 && !own_announced_ && !stopping_ ? total_ : -1; }
  /// Only frames before this one may enter, as far as known.
  std::int64_t may_enter() const { return may_enter_; }
  /// Whether a rank with inputs was asked to stop before its source ended; when the number of frames is known, the same in
  /// every rank.
  bool cut_short() const { return cut_short_; }
  /// Announces to the other ranks that this one failed.
  void fail() { announce(failed); }

 private:
  static constexpr std::int64_t failed = -1, stop_at = -2;  ///< stop_at - n: asks to stop after n frames
  static constexpr auto kind = letter::kind::notice;
  static constexpr int most_kept = 2;  ///< the number of this run's frames, and of the next one's
  struct notices {
    int rank = 0;
    bool counts = false;  ///< from a rank with inputs
    std::array<std::int64_t, most_kept> words{};
    int begun = 0, done = 0;  ///< of all runs: kept, and used
    int runs = 0;             ///< whose number is known

    bool keep(std::int64_t word) {
      if (begun == done + most_kept) return false;
      words[begun++ % most_kept] = word;
      return true;
    }
  };

  void announce(std::int64_t word) {
    for (const int r : receivers_) box_.send(kind, r, {word});  // there is room: a rank is at most one run ahead
  }
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

  mailbox& box_;
  const int inputs_;  ///< ranks with graph inputs
  const std::vector<int> receivers_;
  std::vector<notices> received_;
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
