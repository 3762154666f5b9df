// Threads that work together: how they wait, meet and get their jobs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dice::kernels::team::detail {

/// Returns when `a` is no longer `old`, after whose change notify_one() or notify_all() is called. Looks again at once for
/// some 250 µs, then sleeps: on a board with other work, what it waits for may need this very core. A thread that sleeps
/// sooner is not let on again at once where others compute: MobileNet-v1 took 5.4 ms a frame on two threads beside a program
/// that used two fifths of one core, instead of 3.7, with 30 µs (Zen 5; 3.0 ms without that program with both).
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

/// Where the threads of a job wait for each other, and what they have taken of their work since. What many write has a cache
/// line of its own.
class meeting {
 public:
  /// Of `threads` threads at most.
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
  /// Nobody is here, and nothing is taken. While no thread is in wait() or share().
  void start() {
    here_.store(0, std::memory_order_relaxed);
    for (auto& t : taken_) t.units.store(0, std::memory_order_relaxed);
  }
  /// Calls f(unit) for the units in [0, units) of thread `thread` of `threads`, then for those that others have not begun
  /// yet.
  template <class F> void share(std::int64_t units, std::int64_t thread, std::int64_t threads, const F& f) {
    for (std::int64_t k = 0; k < threads; ++k) {
      const auto owner = (thread + k) % threads, first = units * owner / threads, end = units * (owner + 1) / threads;
      auto& taken = taken_[static_cast<std::size_t>(owner)].units;
      for (auto unit = first + taken.load(std::memory_order_relaxed);
           unit < end && (unit = first + taken.fetch_add(1, std::memory_order_relaxed)) < end; ++unit)
        f(unit);
    }
  }

 private:
  struct alignas(64) count {
    std::atomic<std::int64_t> units{0};
  };
  std::vector<count> taken_;  ///< by thread: of its units
  alignas(64) std::atomic<std::int32_t> here_{0};
  alignas(64) std::atomic<std::int32_t> round_{0};
};

class crew;

/// What the calling thread is: one of the threads of a job, or the first thread of a crew, between jobs, or neither.
struct membership {
  std::int64_t threads = 1;  ///< of the job or the crew
  meeting* where = nullptr;  ///< of the job; null: it has but one thread
  detail::crew* crew = nullptr;
  bool works = false;  ///< in a job
};
inline thread_local membership member;

/// Calls f(thread, threads) as one of a job's threads.
template <class F> void take_part(meeting* where, std::int64_t thread, std::int64_t threads, const F& f) noexcept {
  const auto outer = std::exchange(member, {threads, where, nullptr, true});
  f(thread, threads);
  member = outer;
}

/// Threads that stay together: thread 0 has jobs, the others wait for them.
class crew {
 public:
  explicit crew(std::int64_t threads) : where_(threads) {}
  /// In thread 0, of `size` threads: calls f(thread, threads) in each of the first `threads`.
  template <class F> void run(std::int64_t size, std::int64_t threads, const F& f) {
    call_ = [](crew& me, std::int64_t thread) { take_part(&me.where_, thread, me.threads_, *static_cast<const F*>(me.f_)); };
    f_ = &f;
    threads_ = std::min(threads, size);
    where_.start();
    go(size);
  }
  /// In thread 0: the others return from serve().
  void dismiss(std::int64_t size) {
    call_ = nullptr;
    go(size);
  }
  /// In the other threads: does its part of every job.
  void serve(std::int64_t thread) {
    for (std::uint32_t done = 0;; ++done) {
      await(job_, done);
      const bool last = !call_;
      if (!last && thread < threads_) call_(*this, thread);
      if (busy_.fetch_sub(1) == 1) busy_.notify_one();
      if (last) return;
    }
  }

 private:
  void go(std::int64_t size) {
    busy_.store(static_cast<std::int32_t>(size - 1), std::memory_order_relaxed);
    job_.fetch_add(1);
    job_.notify_all();
    if (call_) call_(*this, 0);
    for (std::int32_t left; (left = busy_.load(std::memory_order_acquire)) > 0;) await(busy_, left);
  }

  alignas(64) std::atomic<std::uint32_t> job_{0};  ///< its number; the job is
  void (*call_)(crew&, std::int64_t) = nullptr;
  const void* f_ = nullptr;
  std::int64_t threads_ = 1;
  alignas(64) std::atomic<std::int32_t> busy_{0};  ///< threads that have not done it
  meeting where_;
};

}  // namespace dice::kernels::team::detail
