// How long a call may wait.
#include "dice/runtime/deadline.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace {

namespace runtime = dice::runtime;
using namespace std::chrono_literals;

TEST(Deadline, OfAnyDuration) {
  EXPECT_EQ(runtime::deadline_in(0ms), runtime::at_once);
  EXPECT_EQ(runtime::deadline_in(std::chrono::hours::min()), runtime::at_once);
  EXPECT_EQ(runtime::deadline_in(std::chrono::hours::max()), runtime::never);
  EXPECT_EQ(runtime::deadline_in(std::chrono::nanoseconds::max()), runtime::never);
  EXPECT_EQ(runtime::deadline_in(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), runtime::never);
  EXPECT_EQ(runtime::deadline_in(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), runtime::at_once);
  const auto before = std::chrono::steady_clock::now();
  const auto until = runtime::deadline_in(std::chrono::duration<double, std::milli>(1e7));
  EXPECT_GE(until, before + 10000s);
  EXPECT_LE(until, std::chrono::steady_clock::now() + 10000s);
}

TEST(Deadline, WaitsUntilItIsReadyOrTimeIsOver) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  for (const auto until : {runtime::at_once, runtime::deadline_in(1ns), runtime::deadline_in(24h), runtime::never})
    EXPECT_TRUE(runtime::await(changed, lock, until, [] { return true; }));
  for (const auto until : {runtime::at_once, runtime::deadline_in(1ns)})
    EXPECT_FALSE(runtime::await(changed, lock, until, [] { return false; }));
}

}  // namespace
