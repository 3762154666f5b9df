#pragma once

#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace dice::runtime {

/// A rank's segments on an accelerator. Each is a job for each stretch of kernels between what enters and leaves, with
/// copies from and to staging memory, where what enters, leaves, is received and sent lies.
class offload {
 public:
  /// Where a place of the plan lies in the accelerator's memory, for a frame in a slot.
  using address_of = std::function<std::byte*(const schedule::place&, int in_slot)>;
  /// Calls the kernel of a step for a frame in a slot.
  using call_of = std::function<void(const schedule::step&, int in_slot)>;
  /// A segment that runs, by its number in the rank.
  struct running {
    int segment = 0;
    std::int64_t frame = 0;
    std::int64_t mark = 0, begin = 0;
  };

  /// `direct`: messages lie in the accelerator's memory, not in staging memory.
  offload(kernels::accelerator& on, const program& p, const schedule::rank_program& me, int slots, bool direct,
          address_of address, const call_of& call)
      : on_(on), program_(p), plan_(p.plan), me_(me), slots_(slots), direct_(direct), address_(std::move(address)) {
    reserve_staging();
    record_jobs(call);
    running_.reserve(static_cast<std::size_t>(slots));
  }
  offload(const offload&) = delete;
  offload& operator=(const offload&) = delete;
  ~offload() { on_.settle(); }  // its jobs call back, and use the staging memory

  /// Where message m, and graph input or output l, lie for endpoint, source and sink.
  std::byte* message(int m, int in_slot) const {
    if (!direct_) return staged(message_stage_[static_cast<std::size_t>(m)], in_slot);
    const auto& about = plan_.messages[static_cast<std::size_t>(m)];
    return address_(about.to == me_.rank ? about.at_receiver : about.at_sender, in_slot);
  }
  std::byte* layer(int l, int in_slot) const { return staged(layer_stage_[static_cast<std::size_t>(l)], in_slot); }

  /// Starts what there is to do for segment `g`, in its order; enter(step) fills the staging memory of a graph input. What
  /// is sent goes to staging memory when all is computed.
  template <class Enter> void begin(int g, std::int64_t frame, std::int64_t now, const Enter& enter) {
    using schedule::action;
    const int in_slot = static_cast<int>(frame % slots_);
    bool computes = false;  // jobs and copies of this frame may be under way, in memory that is used again
    each_step(g, [&](int s, const schedule::step& at) {
      switch (at.what) {
        case action::receive: {
          if (direct_) break;
          const auto& m = plan_.messages[static_cast<std::size_t>(at.message)];
          on_.copy_in(address_(m.at_receiver, in_slot), message(at.message, in_slot), m.bytes, true);
          break;
        }
        case action::enter:
          enter(at);
          on_.copy_in(address_(at.output, in_slot), layer(at.layer, in_slot), bytes_of(at.layer),
                      at.output.where == schedule::space::frame && !computes);
          break;
        case action::leave:
          on_.copy_out(layer(at.layer, in_slot), address_(at.output, in_slot), bytes_of(at.layer), false);
          computes = true;
          break;
        case action::compute:
          if (const int job = jobs_[job_of(s, in_slot)]; job >= 0) on_.start(job);
          computes = true;
          break;
        case action::send:
          break;
      }
    });
    each_step(g, [&](int, const schedule::step& at) {
      if (at.what != action::send || direct_) return;
      const auto& m = plan_.messages[static_cast<std::size_t>(at.message)];
      on_.copy_out(message(at.message, in_slot), address_(m.at_sender, in_slot), m.bytes, true);
    });
    running_.push_back({g, frame, on_.mark(), now});
  }

  /// How long a kernel takes, some times, in nanoseconds, while no segment runs.
  std::vector<std::int64_t> times(const std::function<void()>& kernel) { return on_.times(kernel); }

  bool runs() const { return !running_.empty(); }
  /// The oldest segment that runs, if it is done: from then on it does not run.
  std::optional<running> done() {
    if (running_.empty() || !on_.reached(running_.front().mark)) return {};
    const auto out = running_.front();
    running_.erase(running_.begin());
    return out;
  }

 private:
  const schedule::step& step(int s) const { return plan_.steps[static_cast<std::size_t>(s)]; }
  template <class F> void each_step(int g, const F& f) const {
    const auto& segment = plan_.segments[static_cast<std::size_t>(me_.first_segment + g)];
    for (int s = segment.first_step; s < segment.last_step; ++s) f(s, step(s));
  }
  std::int64_t bytes_of(int layer) const { return program_.layers.layers[static_cast<std::size_t>(layer)].output.bytes(); }
  std::byte* staged(std::int64_t offset, int in_slot) const { return staging_ + in_slot * stage_bytes_ + offset; }
  std::size_t job_of(int s, int in_slot) const { return static_cast<std::size_t>((s - me_.first_step) * slots_ + in_slot); }

  void reserve_staging() {
    const auto reserve = [&](std::int64_t& offset, std::int64_t bytes) {
      offset = stage_bytes_;
      stage_bytes_ += (bytes + schedule::alignment - 1) / schedule::alignment * schedule::alignment;
    };
    message_stage_.resize(plan_.messages.size());
    layer_stage_.resize(plan_.owner.size());
    for (int s = me_.first_step; s < me_.last_step; ++s) {
      const auto& at = step(s);
      if (at.message >= 0 && !direct_)
        reserve(message_stage_[static_cast<std::size_t>(at.message)],
                plan_.messages[static_cast<std::size_t>(at.message)].bytes);
      if (at.what == schedule::action::enter || at.what == schedule::action::leave)
        reserve(layer_stage_[static_cast<std::size_t>(at.layer)], bytes_of(at.layer));
    }
    staging_ = on_.staging(slots_ * stage_bytes_);
  }

  void record_jobs(const call_of& call) {
    using schedule::action;
    jobs_.assign(static_cast<std::size_t>((me_.last_step - me_.first_step) * slots_), -1);
    for (int in_slot = 0; in_slot < slots_; ++in_slot)
      for (int g = me_.first_segment; g < me_.last_segment; ++g) {
        const auto& segment = plan_.segments[static_cast<std::size_t>(g)];
        for (int s = segment.first_step; s < segment.last_step; ++s) {
          if (step(s).what != action::compute) continue;
          int end = s;
          while (end < segment.last_step && step(end).what != action::enter && step(end).what != action::leave) ++end;
          jobs_[job_of(s, in_slot)] = on_.record([this, call, s, end, in_slot] {
            for (int k = s; k < end; ++k)
              if (step(k).what == action::compute) call(step(k), in_slot);
          });
          s = end - 1;
        }
      }
  }

  kernels::accelerator& on_;
  const program& program_;
  const schedule::plan_view& plan_;
  const schedule::rank_program& me_;
  const int slots_;
  const bool direct_;
  const address_of address_;
  std::byte* staging_ = nullptr;
  std::int64_t stage_bytes_ = 0;             ///< of a slot
  std::vector<std::int64_t> message_stage_;  ///< by message: where it is staged
  std::vector<std::int64_t> layer_stage_;    ///< by graph input or output
  std::vector<int> jobs_;                    ///< job_of(first step of a stretch of kernels, slot), else -1
  std::vector<running> running_;             ///< as they were started
};

}  // namespace dice::runtime
