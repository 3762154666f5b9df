// Kernels on a host that plays a slower one. Times are those of processors: other programs do not change them.
#include "dice/runtime/slower_kernels.hpp"

#include "dice/assembly/team.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <thread>

using namespace dice;

namespace {

constexpr std::int64_t ms = 1'000'000;

void compute(std::int64_t time) {
  for (const auto begin = meta::thread_time(); meta::thread_time() - begin < time;) {
  }
}

/// How long a kernel takes (ns) on a host that is 3 times slower, if each of `threads` threads computes for `each` and
/// thread 0 for `first`. On one core or on all.
std::int64_t slower_time(int threads, std::int64_t each, std::int64_t first, bool one_core) {
  std::int64_t out = 0;
  std::thread([&] {  // the cores of others stay as they are
    if (one_core) this_host::use_cores(std::array{this_host::usable_cores().at(0)});
    assembly::threads.start(threads, {});
    std::array<std::int64_t, 2> times{first, each};
    assembly::threads.run([&] {
      runtime::slower_kernels slower(assembly::threads, 3);
      slower.begin();
      assembly::threads.each(
          [](void* of, std::int64_t thread, std::int64_t) { compute((*static_cast<decltype(times)*>(of))[thread > 0]); },
          &times);
      out = slower.time();
    });
  })
      .join();
  return out;
}

/// The compiler knows that a build with threads has them.
bool has_threads() {
  volatile auto each = assembly::threads.each;
  return each != nullptr;
}

}  // namespace

TEST(slower_kernels, take_longer_on_a_thread) {
  if (!has_threads()) GTEST_SKIP() << "no threads in this build";
  const auto time = slower_time(1, 0, 20 * ms, false);
  EXPECT_GE(time, 60 * ms);
  EXPECT_LT(time, 180 * ms);
}

TEST(slower_kernels, take_longer_on_more_threads_than_cores) {
  if (!has_threads()) GTEST_SKIP() << "no threads in this build";
  const auto time = slower_time(4, 20 * ms, 20 * ms, true);  // one after the other
  EXPECT_GE(time, 240 * ms);
  EXPECT_LT(time, 700 * ms);
}

TEST(slower_kernels, take_longer_on_several_cores) {
  if (!has_threads()) GTEST_SKIP() << "no threads in this build";
  if (this_host::usable_cores().size() < 2) GTEST_SKIP() << "only one core here";
  auto time = slower_time(2, 20 * ms, 20 * ms, false);  // side by side
  EXPECT_GE(time, 60 * ms);
  EXPECT_LT(time, 110 * ms);
  time = slower_time(2, 2 * ms, 20 * ms, false);  // the calling thread has most of the work
  EXPECT_GE(time, 60 * ms);
  EXPECT_LT(time, 110 * ms);
}

TEST(slower_kernels, are_as_fast_as_here_without_a_factor) {
  ::unsetenv("DICE_COMPUTE_SLOWER");
  EXPECT_FALSE(runtime::slower_kernels(assembly::threads).any());
  EXPECT_TRUE(runtime::slower_kernels(assembly::threads, 1.1).any());
}
