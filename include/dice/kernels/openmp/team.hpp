// The calling thread's OpenMP team: its size and its cores. The runtime calls these through function pointers.
#pragma once

#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/detail/thread_pool.hpp"
#include "dice/meta/clock.hpp"
#include "dice/meta/function_ref.hpp"
#include "dice/this_host/cores.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace dice::kernels::team {

/// Size of the teams that the calling thread starts: what set_threads() set, OMP_NUM_THREADS, or the number of cores
/// allowed.
inline int available_threads() {
  return detail::this_thread.pool ? static_cast<int>(detail::this_thread.threads) : omp_get_max_threads();
}

/// Kernels called by this thread use teams of at most `count` threads; less than 1 counts as 1.
inline void set_threads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(std::max(1, count));
}

/// Sets the team's size to the number of cores and pins thread i to cores[i]. False if a core is refused (it does not exist,
/// or this process may not use it) or the team comes out smaller; threads that are already pinned stay pinned.
inline bool pin(std::span<const int> cores) {
  if (cores.empty()) return false;
  const int count = static_cast<int>(cores.size());
  set_threads(count);
  bool bound = true;
#pragma omp parallel num_threads(count) reduction(&& : bound)
  bound = omp_get_num_threads() == count && this_host::use_cores(cores.subspan(omp_get_thread_num(), 1));
  return bound;
}

namespace detail {

inline thread_local std::span<interval> watched;

/// Calls body() in thread 0 of a parallel region, whose other threads wait for jobs from its thread pool.
inline void stand_by(int threads, meta::function_ref<> body) {
  thread_pool together(threads);
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  if (const int thread = omp_get_thread_num(); thread > 0) {
    together.serve(thread);
  } else {
    const auto outer = std::exchange(this_thread, {.threads = omp_get_num_threads(), .pool = &together});
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
    together.dismiss(this_thread.threads);
    this_thread = outer;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

/// From now on, thread i of the calling thread's teams records in times[i] when it worked: `begin` if that is 0, `end` after
/// each job. Threads beyond `times` record nothing.
inline void watch(std::span<interval> times) { detail::watched = times; }

/// Inside run(): returns when all of its threads have called it.
inline void barrier() {
  if (const auto& me = detail::this_thread; me.where) me.where->wait(me.threads);
}

/// Inside run(), in thread `thread` of `threads`: divides the units [0, units) among the threads, which all call this with
/// the same `units`, and calls f(unit) once for each. A thread does its own part in order, then takes units that other
/// threads have not begun, so a slow or preempted core does less. Call it at most once between two barriers.
inline void share(std::int64_t units, std::int64_t thread, std::int64_t threads, meta::function_ref<std::int64_t> f) {
  if (const auto& me = detail::this_thread; me.where) return me.where->share(units, thread, threads, f);
  for (std::int64_t unit = 0; unit < units; ++unit) f(unit);
}

/// Calls f(thread, threads) in each of `threads` threads; the calling thread is 0. Inside keep(), it uses at most keep()'s
/// threads; inside another run(), only the calling thread. f must not throw.
inline void run(int threads, detail::job f) {
  const auto part = [f, times = detail::watched](std::int64_t t, std::int64_t n) {
    const auto i = static_cast<std::size_t>(t);
    if (i < times.size() && times[i].begin == 0) times[i].begin = meta::now();
    f(t, n);
    if (i < times.size()) times[i].end = meta::now();
  };
  const auto& me = detail::this_thread;
  const auto go = [&] { me.pool->run(me.threads, threads, part); };
  if (threads == 1 || me.works) detail::take_part(nullptr, 0, 1, part);
  else if (me.pool) go();
  else detail::stand_by(threads, go);
}

/// Calls body(with) while the calling thread's team stays in one parallel region, where run() costs a fraction of starting a
/// region. Its threads sleep after about 250 µs without work. Throws what body throws.
inline void keep(void (*body)(void*), void* with) {
  const int threads = available_threads();
  if (threads == 1 || detail::this_thread.works || detail::this_thread.pool) body(with);
  else detail::stand_by(threads, [=] { body(with); });
}

/// Calls body(with, thread, threads) in each thread of the calling thread's team. body must not throw.
inline void each(void (*body)(void*, std::int64_t, std::int64_t), void* with) {
  run(available_threads(), [=](std::int64_t thread, std::int64_t threads) { body(with, thread, threads); });
}

}  // namespace dice::kernels::team
