#pragma once

#include "dice/kernels/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// What a rank does when, for --trace, --profile and --explain. Times are nanoseconds of its steady clock.
class recorder {
 public:
  enum class kind : std::uint8_t { compute, job, enter, leave, send, post, receive, wait };
  struct event {
    std::int64_t begin = 0, end = 0;
    std::int64_t frame = -1;  ///< of this stream, from 0; -1: of none
    int what = -1;  ///< compute: the fusion group; job: the segment, on an accelerator; enter, leave: the layer; send,
                    ///< post (of a receive), receive: the message
    kind is = kind::wait;
    int thread = 0;  ///< of the rank's team
  };
  /// Durations that are kept of each group; events of a trace, and of messages for --explain.
  static constexpr std::size_t most_samples = 10000, most_events = 200000;

  /// For a rank with a team of `threads`, of `groups` fusion groups in all.
  recorder(std::size_t groups, std::size_t threads, bool traces, bool profiles, bool explains = false)
      : traces_(traces), explains_(explains), team_(traces ? threads : 0), samples_(profiles ? groups : 0) {}

  bool sees_messages() const { return traces_ || explains_; }
  bool profiles() const { return !samples_.empty(); }
  void add(const event& e) {
    if (e.is == kind::compute && e.thread == 0 && profiles()) add_sample(e.what, e.end - e.begin);
    if (traces_) {
      if (events_.size() < most_events) events_.push_back(e);
      else ++untold_;
    }
    const bool of_message = e.is == kind::send || e.is == kind::post || e.is == kind::receive;
    if (explains_ && of_message && passages_.size() < most_events) passages_.push_back(e);
  }

  /// A group took so many nanoseconds.
  void add_sample(int group, std::int64_t time) {
    auto& of_group = samples_[static_cast<std::size_t>(group)];
    if (of_group.size() < most_samples) of_group.push_back(time);
  }

  /// Where the threads of the team tell when they worked in the present call of a kernel; empty if there is no trace.
  std::vector<kernels::interval>& team() { return team_; }
  const std::vector<kernels::interval>& team() const { return team_; }

  /// Of a trace, in the order of their ends; the first most_events.
  const std::vector<event>& events() const { return events_; }
  /// How many came after these.
  std::int64_t untold() const { return untold_; }
  /// Sends, posts and receives for --explain; the first most_events of these, whatever else a trace has.
  const std::vector<event>& passages() const { return passages_; }
  /// By fusion group: nanoseconds that it took, in the first most_samples frames; empty for groups of other ranks.
  const std::vector<std::vector<std::int64_t>>& samples() const { return samples_; }

 private:
  bool traces_, explains_;
  std::int64_t untold_ = 0;
  std::vector<kernels::interval> team_;
  std::vector<event> events_, passages_;
  std::vector<std::vector<std::int64_t>> samples_;
};

}  // namespace dice::runtime
