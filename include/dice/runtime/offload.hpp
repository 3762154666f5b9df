#pragma once

#include "dice/channels/patience.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/arena.hpp"
#include "dice/runtime/kernel_calls.hpp"
#include "dice/runtime/number_check.hpp"
#include "dice/runtime/segment_runner.hpp"
#include "dice/runtime/transfers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dice::runtime {

/// Segments on an accelerator. Each has one job per run of kernels between enter and leave steps, and copies to and from
/// staging memory, which holds all tensors that enter, leave, are received or are sent. A segment has ended when the
/// accelerator has done its jobs and copies. To check numbers, each kernel is a job, whose result is copied and awaited.
class offload final : public segment_runner {
 public:
  /// `tensors` lies in the memory of `on`. `direct`: so do messages, instead of in staging memory.
  offload(kernels::accelerator& on, const program& p, int rank, int slots, bool direct, const arena& tensors,
          kernel_calls& kernels, transfers& io, bool checks)
      : on_(on),
        program_(p),
        layers_(p.layers),
        plan_(p.plan),
        me_(p.plan.ranks[rank]),
        slots_(slots),
        direct_(direct),
        arena_(tensors),
        kernels_(kernels),
        io_(io),
        checks_numbers_(checks) {
    reserve_staging();
    record_jobs();
    started_.reserve(slots);
  }
  offload(const offload&) = delete;
  offload& operator=(const offload&) = delete;
  ~offload() override { on_.settle(); }  // its jobs may call back, and use the staging memory

  std::byte* message(int m, int in_slot) const override {
    if (!direct_) return staged(message_stage_[m], in_slot);
    const auto& about = plan_.messages[m];
    return arena_.address(about.to == me_.rank ? about.at_receiver : about.at_sender, in_slot);
  }

  /// Starts the segment's work in order. Copies what is sent to staging memory once everything is computed.
  void begin(int g, std::int64_t frame) override {
    using schedule::action;
    const auto start = now();
    const int in_slot = io_.slot(frame);
    bool computes = false;  // jobs and copies of this frame may be under way, in memory that it reuses
    each_step(g, [&](int s, const schedule::step& at) {
      switch (at.what) {
        case action::receive: {
          if (direct_ || !io_.carries(at.message, frame)) break;
          const auto& m = plan_.messages[at.message];
          on_.copy_in(arena_.address(m.at_receiver, in_slot), message(at.message, in_slot), m.bytes, true);
          break;
        }
        case action::enter:
          begin_layer(at.layer);
          io_.enter(at.layer, frame, tensor(at.layer, in_slot));
          if (checks_numbers_)
            require_finite_input(program_, at.layer, reinterpret_cast<const float*>(tensor(at.layer, in_slot)));
          begin_layer(-1);
          on_.copy_in(arena_.address(at.output, in_slot), tensor(at.layer, in_slot), bytes_of(at.layer),
                      at.output.where == schedule::space::frame && !computes);
          break;
        case action::leave:
          on_.copy_out(tensor(at.layer, in_slot), arena_.address(at.output, in_slot), bytes_of(at.layer), false);
          computes = true;
          break;
        case action::convert:
        case action::compute:
          if (const int job = jobs_[job_of(s, in_slot)]; job >= 0) on_.start(job);
          if (checks_numbers_ && at.what == action::compute) check_result(at, in_slot);
          computes = true;
          break;
        case action::send:
          break;
      }
    });
    each_step(g, [&](int, const schedule::step& at) {
      if (at.what != action::send || direct_ || !io_.carries(at.message, frame)) return;
      const auto& m = plan_.messages[at.message];
      on_.copy_out(message(at.message, in_slot), arena_.address(m.at_sender, in_slot), m.bytes, true);
    });
    started_.push_back({{g, frame}, on_.mark(), start});
  }

  std::optional<run> ended() override {
    if (started_.empty() || !on_.reached(started_.front().mark)) return {};
    const auto [done, mark, start] = started_.front();
    started_.erase(started_.begin());
    const auto end = now(), from = std::max(start, busy_until_);
    busy_until_ = end;
    io_.count_computing(end - from);
    io_.note(recorder::kind::job, done.segment, done.frame, from);
    hand_out(done.segment, done.frame);
    return done;
  }
  bool busy() const override { return !started_.empty(); }

  /// Measures each kernel, while no segment runs: within a job, kernels cannot be timed singly.
  void profile(recorder& to) {
    for (int s = me_.first_step; s < me_.last_step; ++s)
      if (const auto& at = plan_.steps[s]; at.what == schedule::action::compute)
        for (const auto time : on_.times([&] { record_with_conversions(s, 0); })) to.add_sample(at.group, time);
  }

 private:
  struct started {
    run what;
    std::int64_t mark = 0, start = 0;
  };

  template <class F> void each_step(int g, const F& f) const {
    const auto& segment = plan_.segments[me_.first_segment + g];
    for (int s = segment.first_step; s < segment.last_step; ++s) f(s, plan_.steps[s]);
  }
  void check_result(const schedule::step& at, int in_slot) {
    begin_layer(at.layer);
    on_.copy_out(checked_, arena_.address(at.output, in_slot), result_bytes(at), false);
    channels::patience patience(channels::patience::source::accelerator);
    for (const auto end = on_.mark(); !on_.reached(end); io_.progress()) patience.pause();
    require_finite_result(program_, at, reinterpret_cast<const float*>(checked_));
    begin_layer(-1);
  }
  void hand_out(int g, std::int64_t frame) {
    each_step(g, [&](int, const schedule::step& at) {
      begin_layer(at.layer);
      if (at.what == schedule::action::leave) io_.leave(at.layer, frame, tensor(at.layer, io_.slot(frame)));
      if (at.what == schedule::action::send && io_.carries(at.message, frame))
        io_.send(at.message, frame, message(at.message, io_.slot(frame)));
    });
    begin_layer(-1);
  }

  /// Where source and sink find graph input or output l.
  std::byte* tensor(int l, int in_slot) const { return staged(layer_stage_[l], in_slot); }
  std::int64_t bytes_of(int layer) const { return layers_.layers[layer].output.bytes(); }
  std::int64_t result_bytes(const schedule::step& at) const {
    return dice::tensor::bytes(layers_.layers[at.layer].output, at.output.stored());
  }
  std::byte* staged(std::int64_t offset, int in_slot) const { return staging_ + in_slot * stage_bytes_ + offset; }
  int job_of(int s, int in_slot) const { return (s - me_.first_step) * slots_ + in_slot; }

  void reserve_staging() {
    const auto reserve = [&](std::int64_t& offset, std::int64_t bytes) {
      offset = stage_bytes_;
      stage_bytes_ += (bytes + schedule::alignment - 1) / schedule::alignment * schedule::alignment;
    };
    message_stage_.resize(plan_.messages.size());
    layer_stage_.resize(plan_.owner.size());
    for (int s = me_.first_step; s < me_.last_step; ++s) {
      const auto& at = plan_.steps[s];
      if (at.message >= 0 && !direct_) reserve(message_stage_[at.message], plan_.messages[at.message].bytes);
      if (at.what == schedule::action::enter || at.what == schedule::action::leave)
        reserve(layer_stage_[at.layer], bytes_of(at.layer));
    }
    staging_ = on_.staging(slots_ * stage_bytes_);
    std::int64_t most = 0;
    for (int s = me_.first_step; checks_numbers_ && s < me_.last_step; ++s)
      if (const auto& at = plan_.steps[s]; at.what == schedule::action::compute) most = std::max(most, result_bytes(at));
    if (most > 0) checked_ = on_.staging(most);
  }

  /// Records step s, which computes, and the conversions around it.
  void record_with_conversions(int s, int in_slot) {
    const auto converts = [&](int k) {
      return k >= me_.first_step && k < me_.last_step && plan_.steps[k].what == schedule::action::convert &&
             plan_.steps[k].group == plan_.steps[s].group;
    };
    int first = s;
    while (converts(first - 1)) --first;
    for (int k = first; k <= s || converts(k); ++k) kernels_.record(plan_.steps[k], in_slot);
  }
  void record_jobs() {
    using schedule::action;
    const auto what = [&](int s) { return plan_.steps[s].what; };
    jobs_.assign((me_.last_step - me_.first_step) * slots_, -1);
    for (int in_slot = 0; in_slot < slots_; ++in_slot)
      for (int g = me_.first_segment; g < me_.last_segment; ++g)
        for (int s = plan_.segments[g].first_step; s < plan_.segments[g].last_step; ++s) {
          if (what(s) != action::compute && what(s) != action::convert) continue;
          int end = s + 1;
          while (!checks_numbers_ && end < plan_.segments[g].last_step && what(end) != action::enter &&
                 what(end) != action::leave)
            ++end;
          jobs_[job_of(s, in_slot)] = on_.record([this, what, s, end, in_slot] {
            for (int k = s; k < end; ++k)
              if (what(k) == action::compute || what(k) == action::convert) kernels_.record(plan_.steps[k], in_slot);
          });
          s = end - 1;
        }
  }

  kernels::accelerator& on_;
  const program& program_;
  const graph::network_view& layers_;
  const schedule::plan_view& plan_;
  const schedule::rank_program& me_;
  const int slots_;
  const bool direct_;
  const arena& arena_;
  kernel_calls& kernels_;
  transfers& io_;
  const bool checks_numbers_;
  std::byte* checked_ = nullptr;  ///< where results are staged to be checked
  std::byte* staging_ = nullptr;
  std::int64_t stage_bytes_ = 0;             ///< of a slot
  std::vector<std::int64_t> message_stage_;  ///< by message: where it is staged
  std::vector<std::int64_t> layer_stage_;    ///< by graph input or output
  std::vector<int> jobs_;                    ///< job_of(first step of a stretch of kernels, slot), else -1
  std::vector<started> started_;             ///< in their order
  std::int64_t busy_until_ = 0;              ///< when the last run ended
};

}  // namespace dice::runtime
