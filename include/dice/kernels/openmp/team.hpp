// The calling thread's OpenMP team: its size and its cores. The runtime calls these through function pointers.
#pragma once

#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/detail/crew.hpp"

#include <omp.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace dice::kernels::team {

/// Cores that the calling thread may use, ascending; empty where the operating system does not tell.
inline std::vector<int> allowed_cores() {
  std::vector<int> cores;
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
#endif
  return cores;
}

/// Threads of the teams that the calling thread starts: OMP_NUM_THREADS, what set_threads() said, or the cores allowed.
inline int available_threads() {
  return detail::member.crew ? static_cast<int>(detail::member.threads) : omp_get_max_threads();
}

/// Kernels called by this thread use teams of at most `count` threads; less than 1 counts as 1.
inline void set_threads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(std::max(1, count));
}

/// Sets the team's size to the number of cores and binds thread i of it to cores[i]. False if a core is refused (none by
/// that number, or not allowed to this process) or binding is not to be had; threads bound already stay so.
inline bool pin(std::span<const int> cores) {
#ifdef __linux__
  if (cores.empty()) return false;
  const int count = static_cast<int>(cores.size());
  set_threads(count);
  bool bound = true;
#pragma omp parallel num_threads(count) reduction(&& : bound)
  {
    const int core = cores[static_cast<std::size_t>(omp_get_thread_num())];
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
    bound = omp_get_num_threads() == count && sched_setaffinity(0, sizeof set, &set) == 0;
  }
  return bound;
#else
  (void)cores;
  return false;
#endif
}

namespace detail {

inline thread_local std::span<interval> watched;
inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls body() in thread 0 of a parallel region, whose other threads wait for the jobs of its crew.
template <class Body> void stand_by(int threads, const Body& body) {
  crew together(threads);
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  if (const int thread = omp_get_thread_num(); thread > 0) {
    together.serve(thread);
  } else {
    const auto outer = std::exchange(member, {.threads = omp_get_num_threads(), .crew = &together});
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
    together.dismiss(member.threads);
    member = outer;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

/// From now on thread i of the calling thread's teams tells in times[i] when it worked: from where it first begins, if that
/// is 0, to where it last ended. Threads beyond `times` tell nothing.
inline void watch(std::span<interval> times) { detail::watched = times; }

/// Inside run(): returns when all of its threads have called it.
inline void barrier() {
  if (const auto& me = detail::member; me.where) me.where->wait(me.threads);
}

/// Inside run(), in thread `thread` of `threads`: calls f(unit) for each unit in [0, units), each in one of the threads that
/// call this, with the same units: first a thread's own part, one after the other, then what others have not begun yet. So a
/// core that is slower, or taken away for a while, has less to do. Once between two barriers.
template <class F> void share(std::int64_t units, std::int64_t thread, std::int64_t threads, const F& f) {
  if (const auto& me = detail::member; me.where) return me.where->share(units, thread, threads, f);
  for (std::int64_t unit = 0; unit < units; ++unit) f(unit);
}

/// Calls f(thread, threads) in each of `threads` threads, the calling one is 0; inside keep() in no more than it has, inside
/// another run() once. f must not throw.
template <class F> void run(int threads, const F& f) {
  const auto part = [&f, times = detail::watched](std::int64_t t, std::int64_t n) {
    const auto i = static_cast<std::size_t>(t);
    if (i < times.size() && times[i].begin == 0) times[i].begin = detail::now();
    f(t, n);
    if (i < times.size()) times[i].end = detail::now();
  };
  const auto& me = detail::member;
  const auto go = [&] { me.crew->run(me.threads, threads, part); };
  if (threads == 1 || me.works) detail::take_part(nullptr, 0, 1, part);
  else if (me.crew) go();
  else detail::stand_by(threads, go);
}

/// Calls body(with); meanwhile the calling thread's team stays in one parallel region, where run() costs a fraction of what
/// a region does, and its threads sleep when there is no work for some 250 µs. Throws what body throws.
inline void keep(void (*body)(void*), void* with) {
  const int threads = available_threads();
  if (threads == 1 || detail::member.works || detail::member.crew) body(with);
  else detail::stand_by(threads, [=] { body(with); });
}

/// Calls body(with, thread, threads) in each of the calling thread's team. body must not throw.
inline void each(void (*body)(void*, std::int64_t, std::int64_t), void* with) {
  run(available_threads(), [=](std::int64_t thread, std::int64_t threads) { body(with, thread, threads); });
}

}  // namespace dice::kernels::team
