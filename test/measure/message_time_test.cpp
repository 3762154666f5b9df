// Finds the CPU time that messages cost a rank, by a clock that other load on the machine does not disturb.
#include "dice/measure/message_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace dice;
namespace detail = measure::detail;

std::int64_t time_of_thread() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

constexpr int signals = static_cast<int>(detail::handled_sizes.size());

/// An endpoint whose messages each need four calls of progress(), each of which takes `each` plus a fourth of `of_kib` per
/// KiB.
class costly : public channels::endpoint {
 public:
  costly(double each, double of_kib) : each_(each), of_kib_(of_kib) {}

  void start_send(int path, int, const std::byte*) override { start(path); }
  void start_receive(int path, int, std::byte*) override { start(path); }
  bool sent(int, int) const override { return looks_ == 0; }
  bool received(int, int) const override { return looks_ == 0; }
  void progress() override {
    if (looks_ > 0) --looks_;
    const auto until = time_of_thread() + (path_ < signals ? static_cast<std::int64_t>(seconds() / 4 * 1e9) : 0);
    while (time_of_thread() < until) continue;
  }
  void wait() override {}
  void wake() override {}
  void settle() override {}
  void quit() override {}

  double seconds(std::size_t size) const {
    return each_ + of_kib_ * static_cast<double>(detail::handled_sizes[size]) / 1024;
  }

 private:
  void start(int path) {
    path_ = path;
    looks_ = 4;
  }
  double seconds() const { return seconds(static_cast<std::size_t>(path_)); }

  double each_, of_kib_;
  int path_ = 0, looks_ = 0;
};

TEST(message_trial, tells_what_messages_take_at_both_ends) {
  std::vector<std::byte> data(static_cast<std::size_t>(detail::handled_sizes.back()));
  costly end(200e-6, 5e-6);
  const platform::link by{.bytes_per_s = 50e6, .seconds = 1e-4};
  for (const bool sends : {true, false}) {
    // Other load on the machine makes its cores faster or slower from one moment to the next: one correct trial of a few is
    // enough.
    bool right = false;
    std::string all;
    for (int trial = 0; trial < 5 && !right; ++trial) {
      const auto told = detail::message_trial(end, 0, signals, sends, data.data(), &time_of_thread).run(by);
      ASSERT_EQ(told.size(), detail::handled_sizes.size());
      right = true;
      for (std::size_t k = 0; k < told.size(); ++k) {
        right = right && std::abs(told[k] / end.seconds(k) - 1) < 0.3;
        all += std::to_string(told[k] / end.seconds(k)) + ' ';
      }
    }
    EXPECT_TRUE(right) << all;
  }
}

TEST(message_trial, leaves_out_what_takes_long) {
  EXPECT_EQ(detail::handled_on({.bytes_per_s = 1e9}), detail::handled_sizes.size());
  EXPECT_EQ(detail::handled_on({.bytes_per_s = 2e6, .seconds = 0.01}), 3U);
  EXPECT_EQ(detail::handled_on({.bytes_per_s = 1e3}), 2U);
}

TEST(even_work, takes_time_in_proportion) {
  detail::even_work work(&time_of_thread);
  const double each = work.seconds_alone();
  EXPECT_GT(each, 20e-6);
  EXPECT_LT(each, 20e-3);
}

}  // namespace
