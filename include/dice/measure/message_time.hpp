// The CPU time that messages cost the ranks that send and receive them: for --measure.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/patience.hpp"
#include "dice/platform/connection.hpp"
#include "dice/runtime/figures.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace dice::measure::detail {

using clock = std::int64_t (*)();  ///< in ns

/// Something to compute, in equal steps of some 0.7 ms: as long as a small layer.
class even_work {
 public:
  explicit even_work(clock now) : now_(now) {
    constexpr std::int64_t wanted = 700'000;  // ns
    auto fastest = std::numeric_limits<std::int64_t>::max();
    for (int k = 0; k < 20; ++k) {
      const auto from = now_();
      step();
      fastest = std::min(fastest, std::max<std::int64_t>(now_() - from, 1));
    }
    turns_ = std::max<std::int64_t>(1, turns_ * wanted / fastest);
  }
  void step() {
    double x = kept_;
    for (std::int64_t k = 0; k < turns_; ++k) x = x * 0.999999 + 1e-6;
    kept_ = x;
  }
  /// Seconds per step while there is nothing else to do.
  double seconds_alone() {
    constexpr std::int64_t enough = 300'000'000;  // ns: many of the periods in which a container gets its share of a core
    const auto from = now_();
    std::int64_t steps = 0;
    for (; now_() - from < enough; ++steps) step();
    return static_cast<double>(now_() - from) * 1e-9 / static_cast<double>(steps);
  }

 private:
  clock now_;
  std::int64_t turns_ = 20000;
  volatile double kept_ = 0;
};

/// Sizes of messages, in bytes: ascending.
inline constexpr std::array<std::int64_t, 5> handled_sizes{1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};
/// How many of these sizes pass `by` quickly enough to be measured.
inline std::size_t handled_on(const platform::link& by) {
  constexpr double most = 0.2;  // s
  std::size_t n = 2;
  while (n < handled_sizes.size() && by.time(handled_sizes[n], 1) < most) ++n;
  return n;
}

/// One end of messages over a link that both ends know. This rank computes as a stage would, handles its messages in
/// between, and finds how much less it computes in the same time. That includes all that the messages cost its core: in MPI,
/// in system calls and in interrupts.
class message_trial {
 public:
  /// Paths `first`, `first` + 1, … of `end` lead from the sender to the receiver, one for each size. Paths `back` and `back`
  /// + 1 carry one byte there and back.
  message_trial(channels::endpoint& end, int first, int back, bool sends, std::byte* data, clock now = &runtime::now)
      : end_(end), first_(first), back_(back), sends_(sends), data_(data), now_(now), work_(now) {}

  /// CPU seconds of each message, by size. Both ends call it.
  std::vector<double> run(const platform::link& by) {
    std::vector<double> out;
    for (std::size_t k = 0; k < handled_on(by); ++k) out.push_back(one(first_ + static_cast<int>(k)));
    return out;
  }

 private:
  double one(int path) {
    if (alone_ == 0) {
      meet();
      alone_ = work_.seconds_alone();
    }
    meet();
    // A few, to know how many pass in a while: a transport may move only a piece of each in every step.
    constexpr std::int64_t few = 4, most = 250;
    constexpr double enough = 0.6;  // s
    const auto begin = now_();
    pass(path, few);
    const double seconds = std::max<double>(static_cast<double>(now_() - begin) * 1e-9, 1e-9);
    signal_ = static_cast<std::byte>(std::clamp(enough * few / seconds, double{few}, double{most}));
    meet();
    const auto count = std::to_integer<std::int64_t>(signal_);  // the sender's
    const auto from = now_();
    const auto steps = pass(path, count);
    const double all = static_cast<double>(now_() - from) * 1e-9;
    meet();
    const double before = std::exchange(alone_, work_.seconds_alone());
    return std::max(0.0, (all - static_cast<double>(steps) * (before + alone_) / 2) / static_cast<double>(count));
  }

  /// Computes until `count` messages have passed; how many steps that were.
  std::int64_t pass(int path, std::int64_t count) {
    std::int64_t steps = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      if (sends_) end_.start_send(path, 0, data_);
      else end_.start_receive(path, 0, data_);
      do {
        work_.step();
        ++steps;
        end_.progress();
      } while (!(sends_ ? end_.sent(path, 0) : end_.received(path, 0)));
    }
    return steps;
  }

  /// Waits for the other end: one byte there and back, which is the sender's.
  void meet() {
    const auto carry = [&](bool mine, int path) {
      if (mine) end_.start_send(path, 0, &signal_);
      else end_.start_receive(path, 0, &signal_);
      channels::patience p(channels::patience::source::neighbour);
      for (end_.progress(); !(mine ? end_.sent(path, 0) : end_.received(path, 0)); end_.progress()) p.pause();
    };
    carry(sends_, back_);
    carry(!sends_, back_ + 1);
  }

  channels::endpoint& end_;
  const int first_, back_;
  const bool sends_;
  std::byte* data_;
  clock now_;
  std::byte signal_{};
  even_work work_;
  double alone_ = 0;  ///< seconds of a step alone, after the last messages; 0: none yet
};

}  // namespace dice::measure::detail
