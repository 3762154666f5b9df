// Notices a frame that takes too long, and where it is.
#pragma once

#include "dice/runtime/control/mailbox.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace dice::runtime {

/// How far a frame has come in a rank.
struct standing {
  enum class at : std::int64_t {
    no_answer,  ///< the rank does not say
    turn,       ///< its next segment can run, or waits for earlier frames
    message,    ///< waits for message `what`
    input,      ///< waits for graph input `what`
    output,     ///< the result of graph output `what` waits to be taken
    kernels,    ///< the accelerator has not finished a segment, which begins with layer `what`
    sending,    ///< done, but for message `what`, which has not left
    done,       ///< in this rank
  };
  at is = at::no_answer;
  std::int64_t segment = 0;  ///< of the rank: the frame's next one; the number of segments if it is done
  std::int64_t what = -1;
  /// `segment` at an earlier time, before any rank was asked for this standing: what was sent before that segment has had
  /// time to arrive. 0: not known.
  std::int64_t before = 0;
};

/// Thrown in the rank that notices a late frame, or ranks that do not answer.
struct late_frame : std::runtime_error {
  late_frame(std::int64_t number, std::vector<standing> in_ranks)
      : std::runtime_error("a frame takes too long"), frame(number), ranks(std::move(in_ranks)) {}
  std::int64_t frame;           ///< in this run, or -1: this rank knows of none, but a rank does not answer
  std::vector<standing> ranks;  ///< by rank
};

/// What a stream does about frames that take too long.
struct frame_limit {
  std::int64_t time = 0;  ///< nanoseconds; 0: frames may take any time
  /// Called in a thread of its own if this rank's thread has not come back for that time, from layer `layer` (or -1) of a
  /// frame. Should end the program: nothing else can.
  std::function<void(std::int64_t frame, int layer)> stuck;
};

/// A rank where a frame has entered too long ago asks all others where that frame is. Their answers are of different
/// times: a sender's may be younger than its receiver's. So it asks once more after a while, unless the frame has left, and
/// throws the answers. A rank that has waited as long without a frame asks too, and throws if one does not answer: that
/// rank, or the connection to it, is lost.
///
/// Ranks answer between kernels, and a kernel that takes longer than the limit ends the program (frame_limit::stuck). So a
/// rank that is only slow answers within the limit.
class frame_watch {
 public:
  frame_watch(mailbox& box, const schedule::plan_view& plan, int rank) : box_(box), rank_(rank), others_(plan.ranks.size()) {
    for (std::size_t r = 0; r < others_.size(); ++r)
      others_[r].segments = plan.ranks[r].last_segment - plan.ranks[r].first_segment;
    box_.set_reader(letter::kind::question, [this](int from, const letter::words& says) {
      auto& o = others_[from];
      if (o.asks) return false;
      o.asks = true;
      o.question = says;
      return true;
    });
    box_.set_reader(letter::kind::answer, [this](int from, const letter::words& says) {
      auto& o = others_[from];
      if (says[0] < 0) o.over = -says[0];
      else {
        o.answered = says[0];
        o.said = {static_cast<standing::at>(says[1]), says[2], says[3]};
      }
      return true;
    });
  }
  frame_watch(const frame_watch&) = delete;
  frame_watch& operator=(const frame_watch&) = delete;

  /// A run begins, with frame `first`.
  void begin(std::int64_t limit, std::int64_t first) {
    ++run_;
    limit_ = limit;
    first_ = first;
    round_ = 0;
    quiet_ = now();
  }
  bool on() const { return limit_ > 0; }

  /// Answers the other ranks with where(frame): how far a frame has come here.
  template <class Where> void listen(const Where& where) {
    each([&](int rank, other& o) {
      if (!o.asks || !box_.has_room(letter::kind::answer, rank)) return;
      const standing here = where(o.question[1]);
      box_.send(letter::kind::answer, rank, {o.question[0], static_cast<std::int64_t>(here.is), here.segment, here.what});
      o.asks = false;
    });
  }
  /// listen(), and asks the others if need be: `frame` entered here at `since`, or, unless `entered`, this rank has waited
  /// since then; -1: it does not wait. Frames count over all runs. Throws late_frame.
  template <class Where> void advance(std::int64_t frame, std::int64_t since, bool entered, const Where& where) {
    listen(where);
    const auto time = now();
    const bool late = since >= 0 && time - (entered ? since : std::max(since, quiet_)) >= limit_;
    const auto left = [&] { return !entered || frame != asked_; };
    if (round_ == 2 && left()) fail(std::move(first_found_));
    if (round_ == 1 && (!late || entered != asked_entered_)) round_ = 0;  // all is well again
    if (round_ == 0) {
      if (!late) return;
      asked_ = frame;
      asked_entered_ = entered;
      begin_round(1, time);
    }
    if (time < begun_) return;
    bool all = true;
    each([&](int rank, other& o) {
      if (o.asked < inquiry_ && o.asked == o.answered && box_.has_room(letter::kind::question, rank)) {
        o.asked = inquiry_;
        box_.send(letter::kind::question, rank, {inquiry_, asked_});
      }
      all = all && answered(o);
    });
    if (!all && time - begun_ < limit_ + patience) return;
    if (!asked_entered_ && all) {
      quiet_ = time;
      round_ = 0;
      return;
    }
    auto found = standings(where);
    if (round_ == 1 && all && asked_entered_ && !left()) {
      first_found_ = std::move(found);
      begin_round(2, time + std::min(limit_, pause));
      return;
    }
    for (std::size_t r = 0; r < found.size() && round_ == 2; ++r) found[r].before = first_found_[r].segment;
    fail(std::move(found));
  }

  /// This rank has ended its part of the run, and gives no more answers in it. Throws late_frame if it was asking about one.
  void finish() {
    if (!on()) return;
    if (round_ == 2) fail(std::move(first_found_));
    each([&](int rank, other&) {
      if (box_.has_room(letter::kind::answer, rank)) box_.send(letter::kind::answer, rank, {-run_});
    });
  }

 private:
  static constexpr std::int64_t patience = 2'000'000'000;  ///< nanoseconds for an answer, besides the limit
  static constexpr std::int64_t pause = 1'000'000'000;     ///< at most, before ranks are asked once more

  // A question says the inquiry and the frame; an answer the inquiry and a standing, or -run.
  struct other {
    bool asks = false;  ///< `question`, which is to be answered
    letter::words question{};
    std::int64_t asked = 0, answered = 0;  ///< the last inquiries
    std::int64_t over = 0;                 ///< the last run that it has ended
    standing said{};
    std::int64_t segments = 0;  ///< of its program
  };

  template <class F> void each(const F& f) {
    for (int r = 0; r < static_cast<int>(others_.size()); ++r)
      if (r != rank_) f(r, others_[r]);
  }
  bool answered(const other& o) const { return o.answered == inquiry_ || o.over == run_; }
  void begin_round(int round, std::int64_t at) {
    round_ = round;
    begun_ = at;
    ++inquiry_;
  }

  /// What is known about the frame that was asked for.
  template <class Where> std::vector<standing> standings(const Where& where) const {
    std::vector<standing> out(others_.size());
    for (std::size_t r = 0; r < out.size(); ++r) {
      const auto& o = others_[r];
      if (static_cast<int>(r) == rank_) out[r] = where(asked_);
      else if (o.over == run_) out[r] = {standing::at::done, o.segments};
      else if (answered(o)) out[r] = o.said;
    }
    return out;
  }
  [[noreturn]] void fail(std::vector<standing> found) const {
    throw late_frame(asked_entered_ ? asked_ - first_ : -1, std::move(found));
  }

  mailbox& box_;
  const int rank_;
  std::vector<other> others_;  ///< by rank
  std::int64_t limit_ = 0, first_ = 0, run_ = 0;
  std::int64_t quiet_ = 0;  ///< when all ranks answered, although no frame was known here
  int round_ = 0;           ///< of questions: 1, or 2 if the frame is late for certain; 0: this rank asks nothing
  std::int64_t asked_ = 0;  ///< the frame of these questions
  bool asked_entered_ = false;
  std::int64_t inquiry_ = 0, begun_ = 0;  ///< the last round's number over all runs, and when it begins
  std::vector<standing> first_found_;     ///< in round 1
};

/// While it lives, a thread calls `check` every `period` nanoseconds.
class regular_check {
 public:
  regular_check(std::int64_t period, std::function<void()> check)
      : thread_([this, period, check = std::move(check)](const std::stop_token& ends) {
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, ends, std::chrono::nanoseconds(period), [&] { return ends.stop_requested(); }))
            check();
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it is joined before what it uses goes
};

}  // namespace dice::runtime
