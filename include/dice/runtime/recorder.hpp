#pragma once

#include "dice/kernels/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// Records what a rank does and when, for --trace, --profile and --explain. Times are nanoseconds of its steady clock.
class recorder {
 public:
  enum class kind : std::uint8_t { compute, job, enter, leave, send, post, receive, wait };
  struct event {
    std::int64_t begin = 0, end = 0;
    std::int64_t frame = -1;  ///< of this run, from 0; -1: none
    int what = -1;  ///< compute: the fusion group; job: the segment, on an accelerator; enter, leave: the layer; send,
                    ///< post (of a receive), receive: the message
    kind is = kind::wait;
    int thread = 0;  ///< of the rank's team
  };
  /// Most durations kept for each group; most events kept of a trace, and of messages for --explain.
  static constexpr std::size_t max_samples = 10000, max_events = 200000;

  /// For a rank whose team has `threads` threads, in a plan with `groups` fusion groups.
  recorder(std::size_t groups, std::size_t threads, bool traces, bool profiles, bool explains = false)
      : traces_(traces),
        explains_(explains),
        team_(traces ? threads : 0),
        samples_(profiles ? groups : 0),
        sampled_(samples_.size(), -1) {}

  bool sees_messages() const { return traces_ || explains_; }
  bool profiles() const { return !samples_.empty(); }
  void add(const event& e) {
    if (traces_) {
      if (events_.size() < max_events) events_.push_back(e);
      else ++dropped_events_;
    }
    const bool of_message = e.is == kind::send || e.is == kind::post || e.is == kind::receive;
    if (explains_ && of_message && message_events_.size() < max_events) message_events_.push_back(e);
  }

  /// A group took `time` nanoseconds; in frame `frame` if it is not negative, in which it may be called several times.
  void add_sample(int group, std::int64_t time, std::int64_t frame = -1) {
    if (!profiles()) return;
    auto& of_group = samples_[group];
    if (frame >= 0 && frame == sampled_[group]) {
      of_group.back() += time;
    } else if (of_group.size() < max_samples) {
      of_group.push_back(time);
      sampled_[group] = frame;
    }
  }

  /// Where the team's threads record when they worked in the current kernel call; empty if there is no trace.
  std::vector<kernels::interval>& team() { return team_; }
  const std::vector<kernels::interval>& team() const { return team_; }

  /// A trace's events, ordered by their ends; the first max_events.
  const std::vector<event>& events() const { return events_; }
  /// How many events were dropped after these.
  std::int64_t dropped_events() const { return dropped_events_; }
  /// Sends, posts and receives for --explain; the first max_events, whatever else a trace holds.
  const std::vector<event>& message_events() const { return message_events_; }
  /// By fusion group: nanoseconds that it took in each of the first max_samples frames; empty for groups of other ranks.
  const std::vector<std::vector<std::int64_t>>& samples() const { return samples_; }

 private:
  bool traces_, explains_;
  std::int64_t dropped_events_ = 0;
  std::vector<kernels::interval> team_;
  std::vector<event> events_, message_events_;
  std::vector<std::vector<std::int64_t>> samples_;
  std::vector<std::int64_t> sampled_;  ///< by group: the frame of its last sample, or -1
};

}  // namespace dice::runtime
