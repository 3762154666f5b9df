// The OpenMP team: size and cores.
#include <dice/kernels/openmp/detail/parallel.hpp>
#include <dice/kernels/openmp/team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace {

using namespace dice::kernels;

/// Runs f in a thread of its own: teams and bindings belong to threads.
template <class F> void apart(F f) { std::thread(f).join(); }

TEST(team, has_the_size_that_was_set) {
  apart([] {
    team::set_threads(3);
    EXPECT_EQ(team::available_threads(), 3);
    int seen = 0;
#pragma omp parallel reduction(+ : seen)
    ++seen;
    EXPECT_EQ(seen, 3);
    team::set_threads(0);
    EXPECT_EQ(team::available_threads(), 1);
  });
}

TEST(team, tells_when_its_threads_worked) {
  apart([] {
    std::array<interval, 2> times;
    team::watch(times);
    const auto wait = [](std::int64_t t, std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + 4 * t));
    };
    team::run(3, wait);
    const auto once = times;
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_GT(once[t].begin, 0);
      EXPECT_GE(once[t].end - once[t].begin, static_cast<std::int64_t>(1'000'000 + 4'000'000 * t));
    }
    team::run(2, wait);  // the second region of a kernel
    EXPECT_EQ(times[1].begin, once[1].begin);
    EXPECT_GT(times[1].end, once[1].end);
    team::watch({});
    const auto last = times;
    team::run(2, wait);
    EXPECT_EQ(times[1].end, last[1].end);
  });
}

TEST(team, is_bound_to_the_cores_listed) {
  const auto allowed = team::allowed_cores();
  ASSERT_FALSE(allowed.empty());
  apart([&] {
    EXPECT_TRUE(team::pin(allowed));
    EXPECT_EQ(team::available_threads(), static_cast<int>(allowed.size()));
    bool there = true;
#pragma omp parallel reduction(&& : there)
    there = team::allowed_cores() == std::vector{allowed[static_cast<std::size_t>(omp_get_thread_num())]};
    EXPECT_TRUE(there);
  });
  EXPECT_EQ(team::allowed_cores(), allowed) << "another thread's binding has changed";
}

// GCC's runtime ends threads that a team does without, and new ones are bound as the first thread is.
TEST(team, stays_bound_when_kernels_are_small) {
  auto cores = team::allowed_cores();
  const auto first = cores.front(), other = cores.back();
  cores = {first, first, first, other};
  apart([&] {
    ASSERT_TRUE(team::pin(cores));
    for (const std::int64_t items : {2, 1, 3, 1000, 2}) {
      std::atomic<std::int64_t> done{0};
      host::parallel_for(items, host::grain, [&](std::int64_t begin, std::int64_t end) { done += end - begin; });
      EXPECT_EQ(done, items);
    }
    int last = -1;
#pragma omp parallel
    if (omp_get_thread_num() == 3) last = team::allowed_cores().front();
    EXPECT_EQ(last, other);
  });
}

TEST(team, refuses_cores_that_do_not_exist) {
  apart([] {
    EXPECT_FALSE(team::pin({}));
    const int none[] = {-1}, far[] = {100000}, odd[] = {1023};
    EXPECT_FALSE(team::pin(none));
    EXPECT_FALSE(team::pin(far));
    EXPECT_FALSE(team::pin(odd));
  });
}

}  // namespace
