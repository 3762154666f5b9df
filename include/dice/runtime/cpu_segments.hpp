#pragma once

#include "dice/runtime/arena.hpp"
#include "dice/runtime/kernel_calls.hpp"
#include "dice/runtime/number_check.hpp"
#include "dice/runtime/segment_runner.hpp"
#include "dice/runtime/slower_kernels.hpp"
#include "dice/runtime/transfers.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

namespace dice::runtime {

/// Segments on a CPU: a run has ended when begin() returns. Calls `between` after each kernel.
class cpu_segments final : public segment_runner {
 public:
  cpu_segments(const program& p, int rank, const arena& tensors, kernel_calls& kernels, transfers& io, bool checks,
               std::function<void()> between)
      : program_(p),
        plan_(p.plan),
        me_(p.plan.ranks[rank]),
        arena_(tensors),
        kernels_(kernels),
        io_(io),
        checks_numbers_(checks),
        slower_(p.threads),
        between_(std::move(between)) {}

  std::byte* message(int m, int in_slot) const override {
    const auto& about = plan_.messages[m];
    return arena_.address(about.to == me_.rank ? about.at_receiver : about.at_sender, in_slot);
  }
  void begin(int g, std::int64_t frame) override {
    const auto& segment = plan_.segments[me_.first_segment + g];
    const int in_slot = io_.slot(frame);
    for (int i = segment.first_step; i < segment.last_step; ++i) {
      const auto& s = plan_.steps[i];
      begin_layer(s.layer);  // until it is done
      switch (s.what) {
        case schedule::action::receive:
          io_.note_arrivals();  // it may have arrived just now
          break;
        case schedule::action::enter:
          io_.enter(s.layer, frame, arena_.address(s.output, in_slot));
          if (checks_numbers_) require_finite_input(program_, s.layer, numbers(s.output, in_slot));
          break;
        case schedule::action::leave:
          io_.leave(s.layer, frame, arena_.address(s.output, in_slot));
          break;
        case schedule::action::send:
          if (io_.carries(s.message, frame)) io_.send(s.message, frame, message(s.message, in_slot));
          break;
        case schedule::action::convert:
        case schedule::action::compute:
          compute(s, frame);
          break;
      }
    }
    begin_layer(-1);
    ended_ = {g, frame};
  }
  std::optional<run> ended() override { return std::exchange(ended_, {}); }
  bool busy() const override { return false; }

 private:
  const float* numbers(const schedule::place& at, int in_slot) const {
    return reinterpret_cast<const float*>(arena_.address(at, in_slot));
  }
  void compute(const schedule::step& s, std::int64_t frame) {
    io_.clear_team();
    if (slower_.any()) slower_.begin();
    const auto from = now();
    kernels_.run(s, io_.slot(frame));
    if (slower_.any()) last_until(from + slower_.time());
    const auto to = now();
    io_.count_computing(to - from);
    io_.note_call(s.group, frame, from, to);
    if (checks_numbers_ && s.what == schedule::action::compute)
      require_finite_result(program_, s, numbers(s.output, io_.slot(frame)));
    io_.progress();  // so that messages travel while the rank computes
    io_.note_arrivals();
    between_();
  }

  /// Waits, as a slower processor would still compute. Oversleep is deducted from the next wait.
  void last_until(std::int64_t end) {
    end -= late_;
    for (auto left = end - now(); left > 0; left = end - now()) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<std::int64_t>(left, 200'000)));
      io_.progress();
    }
    late_ = std::min<std::int64_t>(now() - end, 10'000'000);
  }

  const program& program_;
  const schedule::plan_view& plan_;
  const schedule::rank_program& me_;
  const arena& arena_;
  kernel_calls& kernels_;
  transfers& io_;
  const bool checks_numbers_;
  slower_kernels slower_;
  std::int64_t late_ = 0;
  const std::function<void()> between_;
  std::optional<run> ended_;
};

}  // namespace dice::runtime
