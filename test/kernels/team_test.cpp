// The OpenMP team: size, cores, jobs.
#include <dice/kernels/openmp/detail/parallel.hpp>
#include <dice/kernels/openmp/stack.hpp>
#include <dice/kernels/openmp/team.hpp>

#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dice::kernels;

/// Runs f in a thread of its own: teams and bindings belong to threads.
template <class F> void apart(F f) { std::thread(f).join(); }

/// Calls f inside keep() of this thread's team, of `threads` threads.
template <class F> void kept(int threads, F f) {
  team::set_threads(threads);
  team::keep([](void* with) { (*static_cast<F*>(with))(); }, &f);
}

/// Calls f in a thread with a team of `threads`: on its own and inside keep().
template <class F> void both(int threads, F f) {
  apart([&] {
    team::set_threads(threads);
    f();
  });
  apart([&] { kept(threads, f); });
}

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

/// What require_stack() throws in a thread with this much stack; "" if nothing, "no thread" if it is too little for one.
std::string refused(std::size_t stack) {
  std::string said;
  pthread_attr_t about;
  ::pthread_attr_init(&about);
  void* own = std::aligned_alloc(4096, stack);  // the C library may reuse a larger one
  ::pthread_attr_setstack(&about, own, stack);
  const auto body = [](void* to) -> void* {
    team::set_threads(1);
    try {
      team::require_stack();
    } catch (const std::runtime_error& e) {
      *static_cast<std::string*>(to) = e.what();
    }
    return nullptr;
  };
  pthread_t thread{};
  if (::pthread_create(&thread, &about, body, &said) == 0) ::pthread_join(thread, nullptr);
  else said = "no thread";
  ::pthread_attr_destroy(&about);
  std::free(own);
  return said;
}

TEST(team, needs_stacks_for_kernels) {
  const auto enough = refused(512 << 10);
  if (enough == "no thread") GTEST_SKIP() << "ThreadSanitizer needs more by itself";
  EXPECT_EQ(enough, "");
  EXPECT_EQ(refused(256 << 10).find("kernels need 320 KiB of stack in each thread, but there is one with 2"), 0u)
      << refused(256 << 10);
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
  const auto allowed = dice::this_host::usable_cores();
  ASSERT_FALSE(allowed.empty());
  apart([&] {
    EXPECT_TRUE(team::pin(allowed));
    EXPECT_EQ(team::available_threads(), static_cast<int>(allowed.size()));
    bool there = true;
#pragma omp parallel reduction(&& : there)
    there = dice::this_host::usable_cores() == std::vector{allowed[omp_get_thread_num()]};
    EXPECT_TRUE(there);
  });
  EXPECT_EQ(dice::this_host::usable_cores(), allowed) << "another thread's binding has changed";
}

// GCC's runtime ends threads that a team does not need; new threads are bound like the first thread.
TEST(team, stays_bound_when_kernels_are_small) {
  auto cores = dice::this_host::usable_cores();
  const auto first = cores.front(), other = cores.back();
  cores = {first, first, first, other};
  apart([&] {
    ASSERT_TRUE(team::pin(cores));
    for (const std::int64_t items : {2, 1, 3, 1000, 2}) {
      std::atomic<std::int64_t> done{0};
      openmp::parallel_for(items, openmp::grain, [&](std::int64_t begin, std::int64_t end) { done += end - begin; });
      EXPECT_EQ(done, items);
    }
    int last = -1;
#pragma omp parallel
    if (omp_get_thread_num() == 3) last = dice::this_host::usable_cores().front();
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

TEST(team, shares_every_unit_once) {
  for (const int threads : {1, 2, 3})
    both(threads, [&] {
      for (const std::int64_t units : {0, 1, 2, 7, 100}) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(2 * units));
        team::run(threads, [&](std::int64_t t, std::int64_t n) {
          for (const auto phase : {0, 1}) {
            if (phase > 0) team::barrier();  // none at the end: the next job begins with all of its units
            team::share(units, t, n, [&](std::int64_t u) { ++done[phase * units + u]; });
          }
        });
        for (const auto& times : done) EXPECT_EQ(times, 1);
      }
    });
}

TEST(team, takes_over_the_units_of_a_thread_that_is_held_up) {
  both(2, [] {
    std::atomic<int> by_second{0};
    team::run(2, [&](std::int64_t t, std::int64_t n) {
      team::share(16, t, n, [&](std::int64_t) {
        if (t == 1) ++by_second;
        else
          while (by_second < 15) std::this_thread::yield();  // ends only if the other thread takes all parts but this one
      });
    });
    EXPECT_GE(by_second, 15);
  });
}

TEST(team, does_every_job_once_in_every_thread) {
  both(3, [] {
    std::array<std::int64_t, 3> done{};
    for (std::int64_t job = 0; job < 1000; ++job) {
      team::run(3, [&](std::int64_t t, std::int64_t n) {
        ASSERT_EQ(n, 3);
        ASSERT_EQ(done[t]++, job);
      });
      for (const auto times : done) ASSERT_EQ(times, job + 1);
    }
  });
}

// Numbers below 1.2e-38 are 0 in all threads of a kernel, or in none: those that they compute, and those that they read.
TEST(team, flushes_denormals_alike_in_every_thread) {
  const auto made = [] {
    const volatile float small = 1e-30f;
    return std::bit_cast<std::uint32_t>(small * 1e-10f);
  };
  const auto read = [] {
    const volatile float denormal = 1e-40f;
    return std::bit_cast<std::uint32_t>(denormal * 1e10f);
  };
  both(3, [&] {
    std::array<std::uint32_t, 3> bits{}, of_read{};
    {
      const openmp::no_denormals as_in_kernels;
      team::run(3, [&](std::int64_t t, std::int64_t) {
        bits[t] = made();
        of_read[t] = read();
      });
    }
    EXPECT_EQ(bits, (std::array{bits[0], bits[0], bits[0]}));
    EXPECT_EQ(of_read, (std::array{of_read[0], of_read[0], of_read[0]}));
#ifdef __SSE__
    EXPECT_EQ(bits[0], 0u);
    EXPECT_EQ(of_read[0], 0u);
#endif
    EXPECT_NE(made(), 0u);  // after the kernel
    EXPECT_NE(read(), 0u);
  });
}

TEST(team, meets_at_barriers) {
  both(3, [] {
    constexpr std::int64_t rounds = 500;
    std::array<std::int64_t, 3> at{};
    std::atomic<int> wrong{0};
    team::run(3, [&](std::int64_t t, std::int64_t) {
      for (std::int64_t round = 1; round <= rounds; ++round) {
        at[t] = round;
        team::barrier();
        for (const auto other : at) wrong += other != round;
        team::barrier();
      }
    });
    EXPECT_EQ(at, (std::array{rounds, rounds, rounds}));
    EXPECT_EQ(wrong, 0);
  });
}

TEST(team, inside_a_job_is_of_one_thread) {
  both(2, [] {
    omp_set_max_active_levels(2);  // as a program or OMP_MAX_ACTIVE_LEVELS may: regions could be nested
    std::array<std::atomic<int>, 2> calls{};
    team::run(2, [&](std::int64_t outer, std::int64_t) {
      team::run(2, [&](std::int64_t t, std::int64_t n) {
        EXPECT_EQ(t, 0);
        EXPECT_EQ(n, 1);
        team::barrier();
        ++calls[outer];
      });
      team::barrier();  // again the barrier of the outer job
      EXPECT_EQ(calls[0] + calls[1], 2);
    });
  });
}

TEST(team, has_jobs_for_some_of_its_threads) {
  apart([] {
    kept(3, [] {
      EXPECT_EQ(team::available_threads(), 3);
      for (const int wanted : {2, 1, 3, 5, 2}) {
        const int most = std::min(wanted, 3);
        std::array<std::atomic<int>, 3> calls{};
        team::run(wanted, [&](std::int64_t t, std::int64_t n) {
          EXPECT_EQ(n, most);
          team::barrier();
          ++calls[t];
        });
        for (int t = 0; t < 3; ++t) EXPECT_EQ(calls[t], t < most);
      }
      kept(2, [] { team::run(3, [](std::int64_t, std::int64_t n) { EXPECT_EQ(n, 3); }); });  // still the outer keep()
    });
    EXPECT_EQ(team::available_threads(), 3);
  });
}

TEST(team, hands_on_what_is_thrown) {
  apart([] {
    for (int again = 0; again < 3; ++again) {
      EXPECT_THROW(kept(3, [] { throw std::runtime_error("of a source"); }), std::runtime_error);
      std::atomic<int> calls{0};
      team::run(3, [&](std::int64_t, std::int64_t) { ++calls; });
      EXPECT_EQ(calls, 3);
    }
  });
}

TEST(team, tells_when_its_threads_worked_while_kept) {
  apart([] {
    std::array<interval, 2> times{};
    team::watch(times);
    kept(2, [&] {
      team::run(2, [](std::int64_t t, std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1 + t)); });
    });
    for (std::size_t t = 0; t < 2; ++t)
      EXPECT_GE(times[t].end - times[t].begin, static_cast<std::int64_t>(1'000'000 * (t + 1)));
  });
}

TEST(team, sleeps_without_work) {
  apart([] {
    kept(3, [] {
      const auto before = std::clock();
      for (int pause = 0; pause < 10; ++pause) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        std::atomic<int> calls{0};
        team::run(3, [&](std::int64_t, std::int64_t) { ++calls; });
        EXPECT_EQ(calls, 3);
      }
      EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1) << "of 0.6 s that two threads waited";
    });
  });
}

TEST(team, is_one_for_each_thread_that_has_one) {
  std::vector<std::thread> ranks;
  for (int r = 0; r < 3; ++r)
    ranks.emplace_back([] {
      kept(2, [] {
        std::int64_t sum = 0;
        for (int job = 0; job < 300; ++job) {
          std::array<std::int64_t, 2> part{};
          team::run(2, [&](std::int64_t t, std::int64_t) { part[t] = t + 1; });
          sum += part[0] + part[1];
        }
        EXPECT_EQ(sum, 900);
      });
    });
  for (auto& r : ranks) r.join();
}

}  // namespace
