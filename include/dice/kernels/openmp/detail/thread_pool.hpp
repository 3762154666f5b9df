// Threads that work together: how they wait, meet and get their jobs.
#pragma once

#include "dice/kernels/openmp/detail/denormals.hpp"
#include "dice/meta/function_ref.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dice::kernels::team::detail {

/// Returns when `a` is no longer `old`; whoever changes it calls notify_one() or notify_all(). Spins for about 250 µs, then
/// sleeps: on a busy board, what it waits for may need this core. A thread that sleeps sooner does not get its core back at
/// once if other programs compute: with 30 µs, MobileNet-v1 took 5.4 instead of 3.7 ms a frame on two threads next to a
/// program that used two fifths of one core (Zen 5; 3.0 ms with either limit without that program).
template <class T> void await(const std::atomic<T>& a, T old) {
  constexpr int looks = 8000;
  for (int i = 0; i < looks; ++i) {
    if (a.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  a.wait(old, std::memory_order_acquire);
}

/// A barrier for the threads of a job, and how many units of work each has handed out since. Variables that many threads
/// write have a cache line each.
class meeting {
 public:
  /// For at most `threads` threads.
  explicit meeting(std::int64_t threads) : taken_(static_cast<std::size_t>(threads)) {}

  /// Returns when all `threads` threads have called it.
  void wait(std::int64_t threads) {
    const auto round = round_.load(std::memory_order_relaxed);  // cannot change before this thread is here
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      start();
      round_.store(round + 1);
      round_.notify_all();
    } else {
      await(round_, round);
    }
  }
  /// Resets: no thread has arrived, no unit is taken. Only while no thread arrives in wait() or runs share().
  void start() {
    here_.store(0, std::memory_order_relaxed);
    for (auto& t : taken_) t.units.store(0, std::memory_order_relaxed);
  }
  /// Calls f(unit) for each unit in [0, units) that belongs to thread `thread` of `threads`, then for units of other threads
  /// that they have not begun.
  void share(std::int64_t units, std::int64_t thread, std::int64_t threads, meta::function_ref<std::int64_t> f) {
    for (std::int64_t k = 0; k < threads; ++k) {
      const auto owner = (thread + k) % threads, first = units * owner / threads, end = units * (owner + 1) / threads;
      auto& taken = taken_[owner].units;
      for (auto unit = first + taken.load(std::memory_order_relaxed);
           unit < end && (unit = first + taken.fetch_add(1, std::memory_order_relaxed)) < end; ++unit)
        f(unit);
    }
  }

 private:
  struct alignas(64) count {
    std::atomic<std::int64_t> units{0};
  };
  std::vector<count> taken_;  ///< by thread: how many of its units
  alignas(64) std::atomic<std::int32_t> here_{0};
  alignas(64) std::atomic<std::int32_t> round_{0};
};

class thread_pool;

/// The calling thread's role: one of the threads of a job, thread 0 of a thread pool between jobs, or neither.
struct thread_role {
  std::int64_t threads = 1;  ///< of the job or the pool
  meeting* where = nullptr;  ///< of the job; null if it has only one thread
  thread_pool* pool = nullptr;
  bool works = false;  ///< in a job
};
inline thread_local thread_role this_thread;

/// What the threads of a team do: f(thread, threads).
using job = meta::function_ref<std::int64_t, std::int64_t>;

/// Calls f(thread, threads) as one of a job's threads.
inline void take_part(meeting* where, std::int64_t thread, std::int64_t threads, job f) noexcept {
  const auto outer = std::exchange(this_thread, {threads, where, nullptr, true});
  f(thread, threads);
  this_thread = outer;
}

/// Threads that stay together: thread 0 issues jobs, the others wait for them.
class thread_pool {
 public:
  explicit thread_pool(std::int64_t threads) : where_(threads) {}
  /// In thread 0 of `size` threads: calls f(thread, threads) in each of the first `threads`.
  void run(std::int64_t size, std::int64_t threads, job f) {
    job_ = &f;
    threads_ = std::min(threads, size);
    where_.start();
    go(size);
  }
  /// In thread 0: the others return from serve().
  void dismiss(std::int64_t size) {
    job_ = nullptr;
    go(size);
  }
  /// In the other threads: does its part of every job.
  void serve(std::int64_t thread) {
    [[maybe_unused]] const openmp::no_denormals as_on_thread_0;
    for (std::uint32_t done = 0;; ++done) {
      await(jobs_, done);
      const bool last = !job_;
      if (!last && thread < threads_) take_part(&where_, thread, threads_, *job_);
      if (busy_.fetch_sub(1) == 1) busy_.notify_one();
      if (last) return;
    }
  }

 private:
  void go(std::int64_t size) {
    busy_.store(static_cast<std::int32_t>(size - 1), std::memory_order_relaxed);
    jobs_.fetch_add(1);
    jobs_.notify_all();
    if (job_) take_part(&where_, 0, threads_, *job_);
    for (std::int32_t left; (left = busy_.load(std::memory_order_acquire)) > 0;) await(busy_, left);
  }

  alignas(64) std::atomic<std::uint32_t> jobs_{0};  ///< number of the current job, which is:
  const job* job_ = nullptr;
  std::int64_t threads_ = 1;
  alignas(64) std::atomic<std::int32_t> busy_{0};  ///< threads that have not finished the job
  meeting where_;
};

}  // namespace dice::kernels::team::detail
