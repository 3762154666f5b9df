// What enters and leaves a rank: frames from its source and to its sink, messages from and to other ranks.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/frames/ends.hpp"
#include "dice/runtime/control/frame_stamps.hpp"
#include "dice/runtime/control/turns.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// Hands tensors to and takes them from source, sink and endpoint, and records what is done. Frame numbers count over all
/// runs; those given to source, sink and recorder start at 0 in each run.
class transfers {
 public:
  transfers(const program& p, int rank, channels::endpoint& end, int slots, const turns& known, frame_stamps& stamps)
      : program_(p),
        plan_(p.plan),
        end_(end),
        slots_(slots),
        turns_(known),
        stamps_(stamps),
        line_of_(plan_.messages.size()) {
    const auto& me = plan_.ranks[rank];
    for (int s = me.first_step; s < me.last_step; ++s) {
      const auto& step = plan_.steps[s];
      if (step.what != schedule::action::send && step.what != schedule::action::receive) continue;
      auto& lines = step.what == schedule::action::send ? sends_ : receives_;
      line_of_[step.message] = static_cast<int>(lines.size());
      lines.push_back({step.message, std::vector<int>(slots, -1)});
    }
  }

  /// A run begins with frame `first`. `in` and `out` may be null.
  void begin(std::int64_t first, frames::source* in, frames::sink* out, figures& measured) {
    first_ = first;
    source_ = in;
    sink_ = out;
    figures_ = &measured;
  }
  void record(recorder* to) {
    recorder_ = to;
    arrived_.assign(slots_, std::vector<char>(receives_.size(), 1));
  }

  int slot(std::int64_t frame) const { return static_cast<int>(frame % slots_); }

  /// Frames whose receives are posted.
  std::int64_t posted() const { return posted_; }
  /// Posts the receives of the next frame, each into at(message, slot). Requires that the replicas that compute it are
  /// known.
  template <class At> void post(const At& at) {
    const auto frame = posted_++;
    const int in_slot = slot(frame);
    for (auto& l : receives_) {
      l.slot[in_slot] = -1;
      if (!turns_.carries(plan_.messages[l.message], frame)) continue;
      end_.start_receive(l.message, next_slot(l, in_slot), at(l.message, in_slot));
      if (sees_messages()) note(recorder::kind::post, l.message, frame, now());
    }
    for (auto& l : sends_) l.slot[in_slot] = -1;
    if (recorder_) arrived_[slot(frame)].assign(receives_.size(), 0);
  }
  /// Whether a message is one of that frame.
  bool carries(int message, std::int64_t frame) const { return turns_.carries(plan_.messages[message], frame); }
  void send(int message, std::int64_t frame, const std::byte* from) {
    const auto begin = recorder_ ? now() : 0;
    end_.start_send(message, next_slot(sends_[line_of_[message]], slot(frame)), from);
    figures_->bytes_sent += plan_.messages[message].bytes;
    note(recorder::kind::send, message, frame, begin);
  }
  void enter(int layer, std::int64_t frame, std::byte* to) {
    const auto begin = now();
    if (source_) source_->fill(layer, frame - first_, to, program_.layers.layers[layer].output);
    figures_->entering += now() - begin;
    if (source_ && stamps_.makes(frame)) stamps_.put(frame, source_->stamp(layer, frame - first_));
    note(recorder::kind::enter, layer, frame, begin);
  }
  void leave(int layer, std::int64_t frame, const std::byte* from) {
    const auto begin = recorder_ ? now() : 0;
    if (sink_ && stamps_.on()) sink_->stamp(frame - first_, stamps_.of(frame));
    if (sink_) sink_->take(layer, frame - first_, from, program_.layers.layers[layer].output);
    note(recorder::kind::leave, layer, frame, begin);
  }

  /// Whether a step of a frame can run without waiting for its message, source or sink.
  bool ready(const schedule::step& s, std::int64_t frame) const {
    if (s.what == schedule::action::receive) return received(receives_[line_of_[s.message]], slot(frame));
    if (s.what == schedule::action::enter) return !source_ || source_->ready(s.layer, frame - first_);
    if (s.what == schedule::action::leave) return !sink_ || (stamps_.known(frame) && sink_->ready(s.layer, frame - first_));
    return true;
  }
  /// Whether all messages of a slot's last frame are sent.
  bool sent(int in_slot) const {
    return std::all_of(sends_.begin(), sends_.end(), [&](const line& l) { return is_sent(l, in_slot); });
  }

  /// A message of that frame that has not been sent, or -1.
  int unsent(int in_slot) const {
    const auto at = std::find_if(sends_.begin(), sends_.end(), [&](const line& l) { return !is_sent(l, in_slot); });
    return at == sends_.end() ? -1 : at->message;
  }

  /// Gives the transport a chance to move messages.
  void progress() { end_.progress(); }

  recorder* recording() const { return recorder_; }
  /// Clears the team's times before the next kernel call.
  void clear_team() {
    if (recorder_) std::fill(recorder_->team().begin(), recorder_->team().end(), kernels::interval{});
  }
  bool sees_messages() const { return recorder_ && recorder_->sees_messages(); }
  void note(recorder::kind is, int what, std::int64_t frame, std::int64_t begin) const {
    if (recorder_) recorder_->add({begin, now(), frame < 0 ? -1 : frame - first_, what, is});
  }
  /// Records the messages that have arrived since the last call.
  void note_arrivals() {
    if (!sees_messages()) return;
    for (auto f = std::max<std::int64_t>(0, posted_ - slots_); f < posted_; ++f)
      for (std::size_t i = 0; i < receives_.size(); ++i)
        if (auto& seen = arrived_[slot(f)][i]; !seen && received(receives_[i], slot(f))) {
          seen = 1;
          if (receives_[i].slot[slot(f)] >= 0) note(recorder::kind::receive, receives_[i].message, f, now());
        }
  }
  /// Counts time in kernels, in nanoseconds.
  void count_computing(std::int64_t time) { figures_->computing += time; }
  /// Records a kernel call, and when each thread of the team worked in it.
  void note_call(int group, std::int64_t frame, std::int64_t from, std::int64_t to) const {
    if (!recorder_) return;
    const auto add = [&](std::int64_t begin, std::int64_t end, int thread) {
      recorder_->add({begin, end, frame - first_, group, recorder::kind::compute, thread});
    };
    recorder_->add_sample(group, to - from, frame);
    add(from, to, 0);
    const auto& team = recorder_->team();
    for (int t = 1; t < static_cast<int>(team.size()); ++t)
      if (team[t].end > 0) add(team[t].begin, team[t].end, t);
  }

 private:
  /// A message's operations of the frames in the rank's slots. Replicas' messages do not occur in every frame, but the slots
  /// of an endpoint's path are used in turn.
  struct line {
    int message = 0;
    std::vector<int> slot{};  ///< by the frame's slot: the path's, or -1 if the frame has no such message, or not yet
    std::int64_t count = 0;
  };
  int next_slot(line& l, int in_slot) { return l.slot[in_slot] = static_cast<int>(l.count++ % slots_); }
  bool received(const line& l, int in_slot) const {
    return l.slot[in_slot] < 0 || end_.received(l.message, l.slot[in_slot]);
  }
  bool is_sent(const line& l, int in_slot) const { return l.slot[in_slot] < 0 || end_.sent(l.message, l.slot[in_slot]); }

  const program& program_;
  const schedule::plan_view& plan_;
  channels::endpoint& end_;
  const int slots_;
  const turns& turns_;
  frame_stamps& stamps_;
  std::vector<line> sends_, receives_;
  std::vector<int> line_of_;  ///< by message: its place in sends_ or receives_
  std::int64_t first_ = 0, posted_ = 0;
  frames::source* source_ = nullptr;
  frames::sink* sink_ = nullptr;
  figures* figures_ = nullptr;
  recorder* recorder_ = nullptr;
  std::vector<std::vector<char>> arrived_;  ///< by slot and receive: whether its arrival is recorded
};

}  // namespace dice::runtime
