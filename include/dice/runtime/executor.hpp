// Runs one rank's program, frame after frame.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/patience.hpp"
#include "dice/frames/ends.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/arena.hpp"
#include "dice/runtime/control/credits.hpp"
#include "dice/runtime/control/frame_count.hpp"
#include "dice/runtime/control/frame_stamps.hpp"
#include "dice/runtime/control/frame_watch.hpp"
#include "dice/runtime/control/health.hpp"
#include "dice/runtime/control/mailbox.hpp"
#include "dice/runtime/control/notes.hpp"
#include "dice/runtime/control/turns.hpp"
#include "dice/runtime/cpu_segments.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/kernel_calls.hpp"
#include "dice/runtime/offload.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/runtime/right_of_way.hpp"
#include "dice/runtime/segment_runner.hpp"
#include "dice/runtime/transfers.hpp"
#include "dice/runtime/weights_of.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dice::runtime {

/// A rank at work: decides which segment of which frame runs next. A segment of a frame runs when the frame's previous
/// segment is done, the same segment of the previous frame is started, and its messages have arrived; of those that can run,
/// the one of the oldest frame goes first, but replicas' segments last (right_of_way.hpp). Receives of a frame are posted as
/// soon as its slot is free: frame - slots is done here and all its messages have left. A frame enters only while fewer than
/// `in_flight` are between entry and last output, which the ranks with outputs report by credits. So the oldest frame under
/// way always advances (see schedule/proofs.hpp), memory is bounded, and results come in order.
///
/// A frame allocates only its timestamps in the figures.
class executor {
 public:
  /// `weights` are in the memory of the accelerator `on` if there is one; `end` is connected to paths_of(p.plan, in_flight),
  /// and with `direct` is given addresses in the memory of `on`. All must outlive this, but not the list of items.
  /// `checks_numbers`: a frame or result that is not finite throws std::runtime_error.
  executor(const program& p, int rank, const group_weights& weights, channels::endpoint& end, int in_flight,
           kernels::accelerator* on = nullptr, bool direct = false, bool checks_numbers = false)
      : program_(p),
        me_(p.plan.ranks[rank]),
        end_(end),
        in_flight_(in_flight),
        arena_(me_, slots_of(me_, in_flight), on),
        kernels_(p, weights, arena_),
        box_(letter_paths(p.plan, in_flight), static_cast<int>(p.plan.messages.size()), rank, end),
        turns_(box_, p.plan, rank, in_flight),
        credits_(box_),
        stamps_(box_, credits_, rank, stamping_rank(p.plan), in_flight),
        notes_(box_),
        io_(p, rank, end, slots_of(me_, in_flight), turns_, stamps_),
        count_(box_, rank, ranks_with(p.plan, schedule::action::enter)),
        watch_(box_, p.plan, rank),
        health_(box_, rank, p.plan.ranks.size()),
        stamps_frames_(stamping_rank(p.plan) == rank),
        entered_at_(static_cast<std::size_t>(in_flight)),
        slots_(slots_of(me_, in_flight)),
        started_(me_.last_segment - me_.first_segment),
        since_(started_.size()),
        right_of_way_(started_.size()) {
    first_of_turn_.assign(p.plan.replicas.size(), -1);
    last_of_turn_ = first_of_turn_;
    began_.resize(p.plan.replicas.size() * slots_.size());
    for (int g = 0; g < segments(); ++g)
      if (const auto& when = segment(g).when; !when.always() && is_member(when)) {
        last_of_turn_[when.set] = g;
        if (first_of_turn_[when.set] < 0) first_of_turn_[when.set] = g;
      }
    for (int g = 0; g < segments(); ++g)
      for (int s = segment(g).first_step; s < segment(g).last_step; ++s) {
        const auto what = p.plan.steps[s].what;
        if (what == schedule::action::enter && entry_ < 0) entry_ = g;
        if (what == schedule::action::leave) exit_ = g;
      }
    if (on) {
      auto offloaded = std::make_unique<offload>(*on, p, rank, slots(), direct, arena_, kernels_, io_, checks_numbers);
      offload_ = offloaded.get();
      runner_ = std::move(offloaded);
    } else {
      runner_ = std::make_unique<cpu_segments>(p, rank, arena_, kernels_, io_, checks_numbers, [this] { after_kernel(); });
    }
  }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Runs frames 0 … frames - 1. All ranks call it with the same number; results go to `out` unless it is null. Throws what
  /// sources, sinks and kernels throw, and channels::stopped.
  void run(std::int64_t frames, frames::source* in, frames::sink* out, figures& measured) {
    begin(frames, in, out, measured);
    try {
      work();
    } catch (...) {
      end_.quit();  // or other ranks would still copy from and to the arena
      throw;
    }
  }

  /// Runs `most` frames, or fewer: until the sources of all ranks with inputs know their total, the same everywhere, and
  /// that many are done; or until `stops` returns true in a rank; from then on, in this stream and those that follow, only
  /// frames that have entered are finished. Every rank needs `in`. Throws as run() does, and late_frame if a frame takes
  /// longer than `limit` allows; call give_up() if it threw. Call endpoint::settle() after the last stream, even if it
  /// threw.
  void stream(frames::source* in, frames::sink* out, figures& measured, std::int64_t most = endless,
              bool (*stops)() = nullptr, const frame_limit& limit = {}) {
    streamed_ = in;
    stops_ = stops;
    most_ = most;
    begin(most, in, out, measured);
    count_.begin();
    watch_.begin(limit.time, first_);
    works_since_ = never;
    std::optional<regular_check> check;  // wakes the rank, which may wait in endpoint::wait for a long time
    if (watch_.on() || stops || health_.on())
      check.emplace(watch_.on() ? std::clamp<std::int64_t>(limit.time / 4, 1'000'000, 100'000'000) : 100'000'000,
                    [this, &limit] {
                      if (watch_.on() && now() - works_since_ > limit.time) limit.stuck(frame(), layer());
                      end_.wake();
                    });
    work();
    watch_.finish();
  }
  /// Frames of this run; of stream(), when it has ended.
  std::int64_t frames() const { return frames_ - first_; }
  /// Whether stream() ended because a rank was asked to stop, not because the source had ended; the same in every rank.
  bool cut_short() const { return count_.cut_short(); }
  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 2;
  /// From the next run on, sinks learn when each frame came to its source. The same in all ranks.
  void stamp_frames(bool yes) { stamps_.turn(yes); }
  /// How the ranks are; they say so in stream() if it is turned on.
  runtime::health& health() { return health_; }
  /// For sources and sinks of this rank, in its thread.
  runtime::notes& notes() { return notes_; }
  /// Tells the other ranks of stream() that this one failed: they are stopped.
  void give_up() { count_.fail(); }

  /// From now on, records in `to` what is done, unless it is null. Kernels of an accelerator are measured now, one at a
  /// time. Call it from the thread that runs the frames.
  void record(recorder* to) {
    if (program_.threads.watch) program_.threads.watch(to ? std::span(to->team()) : std::span<kernels::interval>{});
    io_.record(to);
    if (to && to->profiles() && offload_) offload_->profile(*to);
  }

  /// The frame worked on last, to report in which one something failed.
  std::int64_t frame() const { return frame_ - first_; }
  /// The layer whose step failed, or -1.
  int layer() const { return runner_->layer(); }
  std::int64_t arena_bytes() const { return arena_.bytes(); }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  /// How far a slot's frame has come.
  struct slot_state {
    int next = 0;          ///< the segment that comes next, or runs
    bool running = false;  ///< `next` was started and has not ended
  };

  int slots() const { return static_cast<int>(slots_.size()); }
  int segments() const { return static_cast<int>(started_.size()); }
  /// Whether this rank is that replica. Others work for the frames of a replica, too: they send it what it reads.
  bool is_member(const parts::turn& t) const {
    const auto& p = program_.plan;
    return p.members[p.replicas[t.set].first + t.member].rank == me_.rank;
  }
  /// When the rank began its part of frame f as that replica.
  std::int64_t& began(const parts::turn& t, std::int64_t f) { return began_[t.set * slots() + io_.slot(f)]; }
  const schedule::segment& segment(int g) const { return program_.plan.segments[me_.first_segment + g]; }

  void begin(std::int64_t frames, frames::source* in, frames::sink* out, figures& measured) {
    first_ = frame_ = frames_;  // not oldest_: the frames of other replicas may have passed already
    frames_ = first_ + frames;
    figures_ = &measured;
    measured = {};
    io_.begin(first_, in, out, measured);
  }

  /// Runs all frames while the rank's threads stand by.
  void work() {
    program_.threads.run([&] { do_frames(); });
  }

  void do_frames() {
    std::int64_t since = -1;  // when waiting began, or -1
    channels::patience patience(channels::patience::source::accelerator);
    for (;;) {
      if (work_on([&] { return end_runs(); })) patience.reset();
      advance();
      if (watch_.on()) watch(since);
      if (oldest_ >= frames_ && idle()) break;
      if (const auto ready = find_ready(); ready >= 0) {
        io_.note_arrivals();  // of those that have come since advance(), before their slots are used again
        if (since >= 0) {
          figures_->waiting += now() - since;
          io_.note(recorder::kind::wait, -1, -1, since);
          since = -1;
        }
        work_on([&] {
          start(ready);
          return end_runs();  // on a CPU it has ended
        });
        end_.progress();
        patience.reset();
      } else if (runner_->busy()) {
        end_.progress();
        patience.pause();
      } else {
        if (since < 0) since = now();
        end_.wait();
      }
    }
    if (since >= 0) figures_->waiting += now() - since;
  }

  /// Starts whatever can be started without waiting: receives of frames whose slot is free, credits.
  void advance() {
    turns_.pass(oldest_);
    box_.advance();
    if (streamed_) {
      if (const auto frames = count_.announced(); frames >= 0 && entry_ >= 0) streamed_->others_have(frames);
      if (const auto frames =
              count_.advance([&] { return entered() == most_ ? most_ : streamed_->total(); }, entered(), stops_ && stops_()))
        frames_ = first_ + *frames;
    }
    turns_.decide(std::min(frames_, oldest_ + slots()));
    while (io_.posted() < frames_ && io_.posted() < oldest_ + slots() && io_.sent(io_.slot(io_.posted())) &&
           turns_.known(io_.posted())) {
      slots_[io_.slot(io_.posted())] = {};
      io_.post([&](int m, int in_slot) { return runner_->message(m, in_slot); });
    }
    notes_.advance();
    if (!notes_.waits()) credits_.advance(left_);  // so that no more notes wait than those of the frames in flight
    stamps_.advance();
    io_.note_arrivals();
    health_.advance([&] { return health_here(); });
    if (streamed_ && entry_ >= 0 && retired() != retired_) streamed_->retired((retired_ = retired()) - first_);
  }

  /// Calls f, which runs functions of others: kernels, sources, sinks. Only these may hang.
  template <class F> bool work_on(const F& f) {
    if (!watch_.on()) return f();
    works_since_ = now();
    const bool out = f();
    works_since_ = never;
    return out;
  }
  /// Within a segment: the kernel has not hung, and other ranks may wait for an answer.
  void after_kernel() {
    if (health_.due()) {
      box_.advance();
      health_.advance([&] { return health_here(); });
    }
    if (!watch_.on()) return;
    works_since_ = now();
    box_.advance();
    watch_.listen([&](std::int64_t frame) { return standing_of(frame); });
  }
  /// Answers the other ranks, and looks for a late frame. This rank has waited since `waiting`, if that is not -1.
  void watch(std::int64_t waiting) {
    const auto f = retired();
    const bool entered = entry_ >= 0 && f < started_[entry_];
    // A frame of a rank alone enters when its result can leave: the wait for that counts.
    const bool held = !entered && entry_ >= 0 && waiting >= 0 && standing_of(oldest_).is == standing::at::output;
    watch_.advance(entered ? f : oldest_, entered ? entered_at_[f % in_flight_] : waiting, entered || held,
                   [&](std::int64_t frame) { return standing_of(frame); });
  }
  /// How far frame f has come here.
  standing standing_of(std::int64_t f) const {
    using at = standing::at;
    if (f < oldest_) {
      const bool reused = f + slots() < io_.posted();
      const int late = reused ? -1 : io_.unsent(io_.slot(f));
      return {late < 0 ? at::done : at::sending, segments(), late};
    }
    if (f >= io_.posted()) return {at::turn};
    const auto& [g, running] = slots_[io_.slot(f)];
    standing out{at::turn, g};
    if (!running && started_[g] != f) return out;
    for (int i = segment(g).first_step; i < segment(g).last_step; ++i) {
      const auto& s = program_.plan.steps[i];
      if (running && (s.what == schedule::action::compute || s.what == schedule::action::convert))
        return {at::kernels, g, s.layer};
      if (running || io_.ready(s, f)) continue;
      if (s.what == schedule::action::receive) return {at::message, g, s.message};
      return {s.what == schedule::action::enter ? at::input : at::output, g, s.layer};
    }
    return out;
  }

  /// For rank 0.
  [[gnu::cold]] rank_health health_here() const {
    rank_health out;
    out.frames = oldest_ - first_;
    out.computing = figures_->computing;
    out.waiting = figures_->waiting;
    out.enters = stamps_frames_;
    out.leaves = exit_ >= 0;
    out.entered = entered();
    if (streamed_ && stamps_frames_) out.streams = streamed_->counts();
    return out;
  }

  /// Frames of this run that have entered here.
  std::int64_t entered() const { return entry_ < 0 ? 0 : started_[entry_] - first_; }

  /// Whether all messages are sent, and all credits sent and received.
  bool idle() const {
    for (int s = 0; s < slots(); ++s)
      if (!io_.sent(s)) return false;
    return turns_.idle() && credits_.idle(frames_) && notes_.idle();
  }

  /// How many frames have left on all ranks, as far as known here.
  std::int64_t retired() const { return credits_.left(exit_ >= 0 ? left_ : frames_); }

  /// The oldest frame whose next segment can run, or -1; but what this rank computes as a replica gives way to the rest.
  std::int64_t find_ready() {
    std::int64_t own = -1;
    for (auto f = oldest_; f < io_.posted(); ++f)
      if (const auto& s = slots_[io_.slot(f)]; !s.running && s.next < segments() && can_run(s.next, f)) {
        if (segment(s.next).when.always())
          return own < 0 || right_of_way_.gives_way(slots_[io_.slot(own)].next, own, now()) ? f : own;
        if (own < 0) own = f;
      }
    return own;
  }
  /// Whether frame f is next in segment g, and the segment would not wait for messages, source or sink.
  bool can_run(int g, std::int64_t f) const {
    if (started_[g] != f) return false;
    if (!turns_.includes(segment(g).when, f)) return f == oldest_ || slots_[io_.slot(f - 1)].next > g;  // keeps the order
    if (g == entry_ && (f >= retired() + in_flight_ || (streamed_ && f - first_ >= count_.may_enter()))) return false;
    for (int s = segment(g).first_step; s < segment(g).last_step; ++s)
      if (!io_.ready(program_.plan.steps[s], f)) return false;
    return true;
  }

  void start(std::int64_t f) {
    auto& at = slots_[io_.slot(f)];
    if (!turns_.includes(segment(at.next).when, f)) {  // another replica's frame
      ++started_[at.next];
      return pass(at);
    }
    if (at.next == entry_) {
      const auto time = now();
      figures_->entered.add(time);
      entered_at_[f % in_flight_] = time;
    }
    if (const auto& when = segment(at.next).when; !when.always() && first_of_turn_[when.set] == at.next)
      began(when, f) = now();
    frame_ = f;
    ++started_[at.next];
    at.running = true;
    since_[at.next] = now();
    runner_->begin(at.next, f);
  }
  /// Takes note of the runs that have ended; returns whether there were any.
  bool end_runs() {
    bool any = false;
    while (const auto done = runner_->ended()) {
      end(*done);
      any = true;
    }
    return any;
  }
  void end(const segment_runner::run& done) {
    if (done.segment == exit_) {
      figures_->left.add(now());
      if (health_.on()) health_.left(now() - stamps_.of(done.frame).steady);
      ++left_;
    }
    if (const auto& when = segment(done.segment).when; !when.always() && last_of_turn_[when.set] == done.segment)
      turns_.finish(when, now() - began(when, done.frame));
    auto& at = slots_[io_.slot(done.frame)];
    at.running = false;
    right_of_way_.ran(done.segment, now() - since_[done.segment]);
    pass(at);
  }
  /// Goes on to a frame's next segment.
  void pass(slot_state& at) {
    // Segments keep the frames' order, so the oldest frame is the first to end.
    if (++at.next == segments()) ++oldest_;
  }

  const program& program_;
  const schedule::rank_program& me_;
  channels::endpoint& end_;
  const int in_flight_;
  int entry_ = -1, exit_ = -1;  ///< the first segment with an input and the last with an output, or -1
  arena arena_;
  kernel_calls kernels_;
  mailbox box_;
  turns turns_;
  credits credits_;
  frame_stamps stamps_;
  runtime::notes notes_;
  transfers io_;
  std::unique_ptr<segment_runner> runner_;
  offload* offload_ = nullptr;  ///< runner_, if it uses an accelerator
  frame_count count_;
  frame_watch watch_;
  runtime::health health_;
  const bool stamps_frames_;

  // Counted over all runs, since slots are used in turn:
  std::int64_t first_ = 0, frames_ = 0;  ///< this run's frames are first_ … frames_ - 1
  std::int64_t oldest_ = 0;              ///< first frame that is not done here
  std::int64_t left_ = 0;                ///< frames whose outputs have all left here
  std::atomic<std::int64_t> frame_{0};   ///< worked on last
  /// Since when the rank's thread has been in a function that may hang, or `never`: waiting is not work.
  std::atomic<std::int64_t> works_since_{never};
  std::vector<std::int64_t> entered_at_;  ///< when each of the frames in flight entered, by frame modulo in_flight
  std::vector<slot_state> slots_;
  std::vector<std::int64_t> started_;  ///< by segment: frames that began it
  std::vector<std::int64_t> since_;    ///< by segment: when it was started last
  right_of_way right_of_way_;
  std::vector<int> first_of_turn_, last_of_turn_;  ///< by set of replicas: this rank's segments of it, or -1
  std::vector<std::int64_t> began_;                ///< by set and slot
  frames::source* streamed_ = nullptr;             ///< the source of stream(), where frames_ becomes known late
  std::int64_t most_ = 0;                          ///< frames of stream()
  bool (*stops_)() = nullptr;                      ///< or null
  std::int64_t retired_ = 0;                       ///< what streamed_ was told last
  figures* figures_ = nullptr;
};

}  // namespace dice::runtime
