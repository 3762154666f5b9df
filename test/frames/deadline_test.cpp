// How long a call may wait.
#include "dice/frames/deadline.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace {

namespace frames = dice::frames;
using namespace std::chrono_literals;

TEST(Deadline, OfAnyDuration) {
  EXPECT_EQ(frames::deadline_in(0ms), frames::at_once);
  EXPECT_EQ(frames::deadline_in(std::chrono::hours::min()), frames::at_once);
  EXPECT_EQ(frames::deadline_in(std::chrono::hours::max()), frames::never);
  EXPECT_EQ(frames::deadline_in(std::chrono::nanoseconds::max()), frames::never);
  EXPECT_EQ(frames::deadline_in(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), frames::never);
  EXPECT_EQ(frames::deadline_in(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), frames::at_once);
  const auto before = std::chrono::steady_clock::now();
  const auto until = frames::deadline_in(std::chrono::duration<double, std::milli>(1e7));
  EXPECT_GE(until, before + 10000s);
  EXPECT_LE(until, std::chrono::steady_clock::now() + 10000s);
}

TEST(Deadline, WaitsUntilItIsReadyOrTimeIsOver) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  for (const auto until : {frames::at_once, frames::deadline_in(1ns), frames::deadline_in(24h), frames::never})
    EXPECT_TRUE(frames::await(changed, lock, until, [] { return true; }));
  for (const auto until : {frames::at_once, frames::deadline_in(1ns)})
    EXPECT_FALSE(frames::await(changed, lock, until, [] { return false; }));
}

}  // namespace
