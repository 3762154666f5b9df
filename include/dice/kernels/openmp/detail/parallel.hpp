#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/openmp/team.hpp"
#include "dice/meta/function_ref.hpp"

#include <algorithm>
#include <cstdint>

/// What the OpenMP kernels share.
namespace dice::kernels::openmp {

using namespace detail;

/// Element operations that are worth a job for the team: they take half a microsecond, and a job costs 0.2 to 0.5 (two
/// threads of an AMD EPYC, Zen 5; a Relu of 8192 elements took as long on two threads as on one).
inline constexpr std::int64_t grain = 16384;

/// Threads for `work` element operations in `items` parts: all or one. GCC's runtime ends the threads that a smaller team
/// leaves out, and pins those of the next larger team to the first thread's core (team::pin).
inline int threads_for(std::int64_t items, std::int64_t work) {
  return items > 1 && work >= grain ? team::available_threads() : 1;
}

/// f(begin, end): does some of the items.
using part_of_items = meta::function_ref<std::int64_t, std::int64_t>;

/// Calls f(begin, end) for parts of [0, items), a few for each thread; each item is `work` element operations.
inline void parallel_for(std::int64_t items, std::int64_t work, part_of_items f) {
  const int threads = threads_for(items, items * work);
  if (threads == 1) return f(std::int64_t{0}, items);
  team::run(threads, [&](std::int64_t t, std::int64_t n) {
    const auto parts = std::min(items, 4 * n);
    team::share(parts, t, n, [&](std::int64_t p) { f(items * p / parts, items * (p + 1) / parts); });
  });
}

/// Bytes of a map that stays in the second-level cache: convolutions cut larger ones into chunks of pixels.
inline constexpr std::int64_t large_map = 512 * 1024;

/// Calls f(plane, begin, end) for ranges [begin, end) of the rows of all planes; a row is `work` element operations. With
/// `same`, a thread gets the same rows of every plane, as in convolutions that divide their pixels, so it mostly reads what
/// it wrote itself: reading from a core with which it shares no cache is slow. Otherwise it gets some of the planes, as in
/// convolutions that divide their channels.
inline void parallel_rows(std::int64_t planes, std::int64_t rows, bool same, std::int64_t work,
                          meta::function_ref<std::int64_t, std::int64_t, std::int64_t> f) {
  if (!same)
    return parallel_for(planes * rows, work, [&](std::int64_t begin, std::int64_t end) {
      for (auto at = begin; at < end;) {
        const auto plane = at / rows, stop = std::min(end, (plane + 1) * rows);
        f(plane, at - plane * rows, stop - plane * rows);
        at = stop;
      }
    });
  parallel_for(rows, planes * work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = 0; plane < planes; ++plane) f(plane, begin, end);
  });
}

/// Calls f(begin, end) for parts of n elements, split at multiples of a cache line.
inline void parallel_elements(std::int64_t n, part_of_items f) {
  constexpr std::int64_t line = 64;
  parallel_for((n + line - 1) / line, line, [&](std::int64_t a, std::int64_t b) { f(a * line, std::min(n, b * line)); });
}

}  // namespace dice::kernels::openmp
