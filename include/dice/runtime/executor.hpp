// Runs one rank's program, frame after frame.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/patience.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/credits.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/frames.hpp"
#include "dice/runtime/needs.hpp"
#include "dice/runtime/offload.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/weights/block.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// A rank at work. A segment of a frame runs when the segment before it in the frame is done, the same segment of the frame
/// before is done, and its messages have arrived; of those that can run, the one of the oldest frame goes first. Receives of
/// a frame are posted as soon as its slot is free: frame - slots is done here and all it sends has left. A frame enters only
/// while fewer than `in_flight` are between entry and last output, which the ranks with outputs tell by credits. So the
/// oldest frame under way always goes on (see schedule/proofs.hpp), memory is bounded, and results come in order.
///
/// On an accelerator (see offload) the rank starts a segment as soon as the same segment of the frame before is started, and
/// looks for its end.
///
/// Nothing is allocated by run(), but for the times in the figures, nor by stream().
class executor {
 public:
  /// `store` holds the weights of needs_of(p, rank), in the memory of the accelerator `on` if there is one; `end` is
  /// connected to paths_of(p.plan, in_flight), and may be handed the memory of `on` if `direct`. All outlive this.
  executor(const program& p, int rank, const weights::store& store, channels::endpoint& end, int in_flight,
           kernels::accelerator* on = nullptr, bool direct = false)
      : program_(p),
        plan_(p.plan),
        me_(plan_.ranks[static_cast<std::size_t>(rank)]),
        end_(end),
        in_flight_(in_flight),
        slots_(slots_of(me_, in_flight)),
        segments_(me_.last_segment - me_.first_segment),
        arena_(on ? 0 : arena_bytes()),
        memory_(on ? on->memory(arena_bytes()) : arena_.data()),
        credits_(paths_of(plan_, in_flight), rank, end, in_flight) {
    arena_.touch();
    prepare_calls(rank, store);
    prepare_notices(rank);
    at_.resize(static_cast<std::size_t>(slots_));
    started_.resize(static_cast<std::size_t>(segments_));
    for (int g = 0; g < segments_; ++g)
      for (int s = segment(g).first_step; s < segment(g).last_step; ++s) {
        const auto what = step(s).what;
        if (what == schedule::action::enter && entry_ < 0) entry_ = g;
        if (what == schedule::action::leave) exit_ = g;
      }
    if (!on) return;
    busy_.assign(static_cast<std::size_t>(slots_), segments_);
    offload_.emplace(
        *on, p, me_, slots_, direct, [this](const schedule::place& at, int in_slot) { return address(at, in_slot); },
        [this](const schedule::step& s, int in_slot) { call(s, in_slot); });
  }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Runs frames 0 … frames - 1. All ranks call it with the same number; results go to `out` unless it is null. Throws what
  /// sources, sinks and kernels throw, and channels::stopped.
  void run(std::int64_t frames, source* in, sink* out, figures& measured) {
    begin(frames, in, out, measured);
    try {
      work(measured);
    } catch (...) {
      end_.quit();  // or others would still copy from and to the arena
      throw;
    }
  }

  /// Runs frames until the sources of all ranks with inputs have told their total, the same everywhere, and that many are
  /// done. Both `in` and `out` are needed in every rank. Throws as run() does; then give_up() belongs after it, and in any
  /// case endpoint::settle().
  void stream(source* in, sink* out, figures& measured) {
    streams_ = true;
    begin(std::numeric_limits<std::int64_t>::max() / 2, in, out, measured);
    for (auto& n : heard_)
      for (; n.begun < 2; ++n.begun)
        end_.start_receive(n.path, n.begun, reinterpret_cast<std::byte*>(&n.words[static_cast<std::size_t>(n.begun)]));
    work(measured);
  }
  /// Tells the other ranks of stream() that this one failed: they are stopped.
  void give_up() { tell(failed); }

  /// From now on what is done is told to `to`, unless it is null; the kernels of an accelerator, which nobody sees while it
  /// works, are measured at once, each alone. The thread that calls it is the one that runs the frames.
  void record(recorder* to) {
    recorder_ = to;
    if (program_.threads.watch) program_.threads.watch(to ? std::span(to->team()) : std::span<kernels::interval>{});
    arrived_.assign(static_cast<std::size_t>(slots_), std::vector<char>(receives_.size(), 1));
    if (!to || !offload_ || !to->profiles()) return;
    for (int s = me_.first_step; s < me_.last_step; ++s)
      if (step(s).what == schedule::action::compute)
        for (const auto time : offload_->times([&] { call(step(s), 0); })) to->add_sample(step(s).group, time);
  }

  /// The frame worked on last, to tell in which one something failed.
  std::int64_t frame() const { return frame_ - base_; }
  /// The layer whose step failed, or -1.
  int layer() const { return layer_; }
  std::int64_t arena_bytes() const { return slots_ * me_.frame_bytes + me_.scratch_bytes; }

 private:
  static constexpr std::int64_t failed = -1;

  void tell(std::int64_t word) {
    for (auto& n : told_) {
      n.words[static_cast<std::size_t>(n.begun)] = word;
      end_.start_send(n.path, n.begun, reinterpret_cast<const std::byte*>(&n.words[static_cast<std::size_t>(n.begun)]));
      ++n.begun;
    }
  }

  /// Learns the number of frames, from this rank's source and from others.
  void listen() {
    for (auto& n : heard_)
      for (; n.done < 2 && end_.received(n.path, n.done); ++n.done) {
        const auto word = n.words[static_cast<std::size_t>(n.done)];
        if (word == failed) throw channels::stopped();
        learn(word);
      }
    if (const auto n = source_->total(); n >= 0 && !source_told_) {
      source_told_ = true;
      tell(n);
      learn(n);
    }
  }
  void learn(std::int64_t total) {
    if (totals_++ > 0 && total != total_)
      throw std::runtime_error("the graph inputs got different numbers of frames, " + std::to_string(total_) + " and " +
                               std::to_string(total) + "; push as many to each");
    total_ = total;
    if (totals_ == static_cast<int>(ranks_with(plan_, schedule::action::enter).size())) frames_ = base_ + total;
  }

  /// Does all frames; meanwhile the rank's threads stand by.
  void work(figures& measured) {
    auto body = [&] { do_frames(measured); };
    if (program_.threads.keep) program_.threads.keep([](void* f) { (*static_cast<decltype(body)*>(f))(); }, &body);
    else body();
  }

  void do_frames(figures& measured) {
    std::int64_t since = -1;  // when waiting began, or -1
    channels::patience patience;
    for (;;) {
      while (offload_) {
        const auto done = offload_->done();
        if (!done) break;
        end_on_accelerator(*done);
        patience.reset();
      }
      advance();
      if (oldest_ == frames_ && idle()) break;
      if (const auto ready = find_ready(); ready >= 0) {
        if (since >= 0) {
          measured.waiting += now() - since;
          note(recorder::kind::wait, -1, -1, since);
          since = -1;
        }
        frame_ = ready;
        begin_segment(ready);
        end_.progress();
        patience.reset();
      } else if (offload_ && offload_->runs()) {
        end_.progress();
        patience.pause();
      } else {
        if (since < 0) since = now();
        end_.wait();
      }
    }
    if (since >= 0) measured.waiting += now() - since;
  }

  const schedule::step& step(int s) const { return plan_.steps[static_cast<std::size_t>(s)]; }
  const schedule::segment& segment(int g) const { return plan_.segments[static_cast<std::size_t>(me_.first_segment + g)]; }
  int slot(std::int64_t frame) const { return static_cast<int>(frame % slots_); }

  void prepare_calls(int rank, const weights::store& store) {
    std::vector<int> groups;
    static_cast<void>(needs_of(program_, rank, groups));
    plain_.resize(plan_.groups.size());
    packed_.resize(plan_.groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      plain_[static_cast<std::size_t>(groups[i])] = store.plain(static_cast<int>(i));
      packed_[static_cast<std::size_t>(groups[i])] = store.packed(static_cast<int>(i));
    }
    std::size_t most = 1;
    for (int s = me_.first_step; s < me_.last_step; ++s) {
      most = std::max(most, static_cast<std::size_t>(step(s).operands));
      if (step(s).what == schedule::action::send) sends_.push_back(step(s).message);
      if (step(s).what == schedule::action::receive) receives_.push_back(step(s).message);
    }
    inputs_.resize(most);
  }

  void prepare_notices(int rank) {
    const auto paths = paths_of(plan_, in_flight_);
    for (std::size_t i = plan_.messages.size(); i < paths.size(); ++i) {
      if (paths[i].tag == credit_tag) continue;
      if (paths[i].from == rank) told_.push_back({.path = static_cast<int>(i)});
      if (paths[i].to == rank) heard_.push_back({.path = static_cast<int>(i)});
    }
  }

  void begin(std::int64_t frames, source* in, sink* out, figures& measured) {
    base_ = frame_ = oldest_;
    frames_ = base_ + frames, source_ = in, sink_ = out, figures_ = &measured;
    measured = {};
    if (streams_) return;
    const auto n = static_cast<std::size_t>(frames);
    if (entry_ >= 0) measured.entered.resize(n);
    if (exit_ >= 0) measured.left.resize(n);
  }

  std::byte* address(const schedule::place& p, int in_slot) const {
    const auto base = p.where == schedule::space::frame ? in_slot * me_.frame_bytes : slots_ * me_.frame_bytes;
    return memory_ + base + p.offset;
  }
  /// Where message m lies for the endpoint, and graph input or output l for source or sink: in the arena, or staged.
  std::byte* message_at(int m, const schedule::place& p, int in_slot) const {
    return offload_ ? offload_->message(m, in_slot) : address(p, in_slot);
  }
  std::byte* layer_at(int l, const schedule::place& p, int in_slot) const {
    return offload_ ? offload_->layer(l, in_slot) : address(p, in_slot);
  }

  /// Starts whatever can be started without waiting: receives of frames whose slot is free, credits.
  void advance() {
    if (streams_) listen();
    while (posted_ < frames_ && posted_ < oldest_ + slots_ && sends_done(slot(posted_))) {
      const int s = slot(posted_);
      at_[static_cast<std::size_t>(s)] = 0;
      for (int m : receives_) {
        end_.start_receive(m, s, message_at(m, plan_.messages[static_cast<std::size_t>(m)].at_receiver, s));
        if (recorder_ && recorder_->sees_messages()) note(recorder::kind::post, m, posted_ - base_, now());
      }
      if (recorder_) arrived_[static_cast<std::size_t>(s)].assign(receives_.size(), 0);
      ++posted_;
    }
    credits_.advance(left_, frames_);
    if (recorder_ && recorder_->sees_messages()) note_arrivals();
    if (streams_ && entry_ >= 0 && retired() != retired_) source_->retired((retired_ = retired()) - base_);
  }

  void note(recorder::kind is, int what, std::int64_t frame, std::int64_t begin) const {
    if (recorder_) recorder_->add({begin, now(), frame, what, is});
  }
  void note_arrivals() {
    for (auto f = oldest_; f < posted_; ++f) note_arrivals(f);
  }
  void note_arrivals(std::int64_t f) {
    auto& seen = arrived_[static_cast<std::size_t>(slot(f))];
    for (std::size_t i = 0; i < receives_.size(); ++i)
      if (!seen[i] && end_.received(receives_[i], slot(f))) {
        seen[i] = 1;
        note(recorder::kind::receive, receives_[i], f - base_, now());
      }
  }

  bool sends_done(int in_slot) const {
    return std::all_of(sends_.begin(), sends_.end(), [&](int m) { return end_.sent(m, in_slot); });
  }

  /// Whether all is sent, and all credits are there.
  bool idle() const {
    for (int s = 0; s < slots_; ++s)
      if (!sends_done(s)) return false;
    return credits_.idle(frames_);
  }

  /// Frames that have left everywhere, as far as known here.
  std::int64_t retired() const { return credits_.left(exit_ >= 0 ? left_ : frames_); }

  /// The oldest frame whose next segment can run, or -1.
  std::int64_t find_ready() const {
    for (auto f = oldest_; f < posted_; ++f) {
      const int g = at_[static_cast<std::size_t>(slot(f))];
      if (g < segments_ && started_[static_cast<std::size_t>(g)] == f && (g != entry_ || f < retired() + in_flight_) &&
          can_run(g, f))
        return f;
    }
    return -1;
  }

  /// Whether segment g of frame f has its messages and would not wait for source or sink.
  bool can_run(int g, std::int64_t f) const {
    for (int s = segment(g).first_step; s < segment(g).last_step; ++s) {
      const auto& at = step(s);
      if (at.what == schedule::action::receive && !end_.received(at.message, slot(f))) return false;
      if (at.what == schedule::action::enter && source_ && !source_->ready(at.layer, f - base_)) return false;
      if (at.what == schedule::action::leave && sink_ && !sink_->ready(at.layer, f - base_)) return false;
    }
    return true;
  }

  void begin_segment(std::int64_t f) {
    const int g = at_[static_cast<std::size_t>(slot(f))];
    if (g == entry_ && !streams_) figures_->entered[static_cast<std::size_t>(f - base_)] = now();
    ++started_[static_cast<std::size_t>(g)];
    if (offload_) return begin_on_accelerator(g, f);
    for (int s = segment(g).first_step; s < segment(g).last_step; ++s) run_step(step(s), f);
    end_segment(g, f);
  }
  void end_segment(int g, std::int64_t f) {
    if (g == exit_ && !streams_) figures_->left[static_cast<std::size_t>(f - base_)] = now();
    left_ += g == exit_;
    // Segments keep the frames' order, so the oldest frame is the first to end.
    if (++at_[static_cast<std::size_t>(slot(f))] == segments_) ++oldest_;
  }

  void begin_on_accelerator(int g, std::int64_t f) {
    offload_->begin(g, f, now(), [&](const schedule::step& enter) { run_step(enter, f); });
    std::swap(at_[static_cast<std::size_t>(slot(f))], busy_[static_cast<std::size_t>(slot(f))]);
  }
  void end_on_accelerator(const offload::running& done) {
    const auto f = done.frame;
    std::swap(at_[static_cast<std::size_t>(slot(f))], busy_[static_cast<std::size_t>(slot(f))]);
    const auto end = now(), from = std::max(done.begin, busy_until_);
    busy_until_ = end;
    figures_->computing += end - from;
    note(recorder::kind::job, done.segment, f - base_, from);
    for (int s = segment(done.segment).first_step; s < segment(done.segment).last_step; ++s)
      if (const auto what = step(s).what; what == schedule::action::leave || what == schedule::action::send)
        run_step(step(s), f);
    end_segment(done.segment, f);
  }

  void run_step(const schedule::step& s, std::int64_t f) {
    layer_ = s.layer;  // until it is done
    const int in_slot = slot(f);
    const auto elements = [&] { return program_.layers.layers[static_cast<std::size_t>(s.layer)].output.elements(); };
    const auto begin = recorder_ ? now() : 0;
    switch (s.what) {
      case schedule::action::receive:
        if (recorder_ && recorder_->sees_messages()) note_arrivals(f);  // perhaps only now
        break;                                                          // it has arrived, or the segment would not run
      case schedule::action::enter:
        if (source_)
          source_->fill(s.layer, f - base_, reinterpret_cast<float*>(layer_at(s.layer, s.output, in_slot)), elements());
        note(recorder::kind::enter, s.layer, f - base_, begin);
        break;
      case schedule::action::leave:
        if (sink_)
          sink_->take(s.layer, f - base_, reinterpret_cast<const float*>(layer_at(s.layer, s.output, in_slot)), elements());
        note(recorder::kind::leave, s.layer, f - base_, begin);
        break;
      case schedule::action::send: {
        const auto& m = plan_.messages[static_cast<std::size_t>(s.message)];
        end_.start_send(s.message, in_slot, message_at(s.message, m.at_sender, in_slot));
        figures_->bytes_sent += m.bytes;
        note(recorder::kind::send, s.message, f - base_, begin);
        break;
      }
      case schedule::action::compute:
        compute(s, f);
        break;
    }
    layer_ = -1;
  }

  /// Where the tensors of a step's kernel lie; the operands' addresses are in inputs_.
  kernels::buffers buffers_of(const schedule::step& s, int in_slot) {
    const auto g = static_cast<std::size_t>(s.group);
    for (int k = 0; k < s.operands; ++k) {
      const auto& at = plan_.operands[static_cast<std::size_t>(s.first_operand + k)];
      inputs_[static_cast<std::size_t>(k)] = reinterpret_cast<const float*>(address(at, in_slot));
    }
    return {inputs_.data(), reinterpret_cast<float*>(address(s.output, in_slot)), plain_[g], packed_[g],
            address(s.scratch, in_slot)};
  }

  /// Calls a kernel that an accelerator records. Throws std::runtime_error, which names the layer.
  void call(const schedule::step& s, int in_slot) {
    try {
      program_.kernels[static_cast<std::size_t>(s.group)].run(buffers_of(s, in_slot));
    } catch (const std::exception& e) {
      throw std::runtime_error("layer '" + std::string(program_.layers.layers[static_cast<std::size_t>(s.layer)].onnx_name) +
                               "': " + e.what());
    }
  }

  void compute(const schedule::step& s, std::int64_t f) {
    const auto g = static_cast<std::size_t>(s.group);
    const auto at = buffers_of(s, slot(f));
    if (recorder_) std::fill(recorder_->team().begin(), recorder_->team().end(), kernels::interval{});
    const auto from = now();
    program_.kernels[g].run(at);
    const auto to = now();
    figures_->computing += to - from;
    if (recorder_) {
      recorder_->add({from, to, f - base_, s.group, recorder::kind::compute});
      for (int t = 1; t < static_cast<int>(recorder_->team().size()); ++t)
        if (const auto& own = recorder_->team()[static_cast<std::size_t>(t)]; own.end > 0)
          recorder_->add({own.begin, own.end, f - base_, s.group, recorder::kind::compute, t});
    }
    end_.progress();  // so that messages travel while the rank computes
    if (recorder_ && recorder_->sees_messages()) note_arrivals();
  }

  const program& program_;
  const schedule::plan_view& plan_;
  const schedule::rank_program& me_;
  channels::endpoint& end_;
  const int in_flight_, slots_, segments_;
  int entry_ = -1, exit_ = -1;  ///< the first segment with an input and the last with an output, or -1
  weights::block arena_;        ///< empty if there is an accelerator
  std::byte* const memory_;
  std::vector<const float* const*> plain_;  ///< by fusion group
  std::vector<const std::byte*> packed_;    ///< by fusion group
  std::vector<const float*> inputs_;        ///< of the call being made
  std::vector<int> sends_, receives_;       ///< messages
  credits credits_;
  std::vector<notices> told_, heard_;
  recorder* recorder_ = nullptr;
  std::vector<std::vector<char>> arrived_;  ///< by slot and receive: whether the recorder knows

  // Counted over all runs, since the slots are used in turn:
  std::int64_t base_ = 0, frames_ = 0;  ///< this run is of frames base_ … frames_ - 1
  std::int64_t posted_ = 0;             ///< frames whose receives are posted
  std::int64_t oldest_ = 0;             ///< first frame that is not done here
  std::int64_t left_ = 0;               ///< frames whose outputs all left here
  std::int64_t frame_ = 0;              ///< worked on last
  int layer_ = -1;                      ///< worked on, or -1
  std::vector<int> at_;                 ///< by slot: the segment that comes next
  std::vector<std::int64_t> started_;   ///< by segment: frames that began it
  bool streams_ = false;                ///< frames_ is not known yet, or was told by the sources
  bool source_told_ = false;            ///< the total of this rank's own source is known
  std::int64_t total_ = 0;              ///< as told by the ranks with inputs,
  int totals_ = 0;                      ///< by so many of them
  std::int64_t retired_ = 0;            ///< what the source knows
  source* source_ = nullptr;
  sink* sink_ = nullptr;
  figures* figures_ = nullptr;

  // With an accelerator:
  std::vector<int> busy_;        ///< by slot: its segment while that runs
  std::int64_t busy_until_ = 0;  ///< when a segment ended there last
  std::optional<offload> offload_;
};

}  // namespace dice::runtime
