// This machine's measured limits: multiply-adds in registers, and reads from each level of memory.
#pragma once

#include <dice/kernels/compiled.hpp>
#include <dice/kernels/openmp/openmp.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace bench {

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
template <class T> using block_of = std::unique_ptr<T[], free_memory>;

/// `count` uninitialised elements of T, 64-byte aligned, with room for a vector after them.
template <class T> block_of<T> allocate(std::int64_t count) {
  const auto bytes = (static_cast<std::size_t>(count) * sizeof(T) + 127) / 64 * 64;
  auto* p = static_cast<T*>(std::aligned_alloc(64, bytes));
  if (!p) throw std::bad_alloc();
  return block_of<T>(p);
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that f takes.
template <class F> double time(const F& f) {
  const double begin = seconds();
  f();
  return seconds() - begin;
}

/// The minimum time of f, which runs for `budget` seconds and at least five times.
template <class F> double least(double budget, const F& f) {
  double best = std::numeric_limits<double>::max();
  const double end = seconds() + budget;
  for (int i = 0; i < 5 || seconds() < end; ++i) best = std::min(best, time(f));
  return best;
}

/// Sums that the compiler must keep.
inline volatile float kept;

/// FLOP/s of independent multiply-adds in registers, two operations each, on `threads` threads.
inline double peak(int threads) {
  using namespace dice::kernels;
  constexpr int sums = 12, rounds = 20'000;
  const double once = least(0.3, [&] {
    team::run(threads, [](std::int64_t, std::int64_t) {
      detail::vec sum[sums];
      for (int i = 0; i < sums; ++i) sum[i] = detail::splat(static_cast<float>(i));
      const auto a = detail::splat(0.999f), b = detail::splat(0.001f);
      for (int n = 0; n < rounds; ++n) {
        DICE_UNROLL
        for (int i = 0; i < sums; ++i) sum[i] = detail::fma(sum[i], a, b);
      }
      for (int i = 1; i < sums; ++i) sum[0] += sum[i];
      kept = sum[0][0];
    });
  });
  return 2.0 * sums * rounds * detail::width * threads / once;
}

/// Bytes/s at which `threads` threads together read `bytes` bytes over and over, each its own part.
inline double bandwidth(std::int64_t bytes, int threads) {
  using namespace dice::kernels;
  constexpr int sums = 8, step = sums * detail::width;
  const auto part = bytes / static_cast<std::int64_t>(sizeof(float)) / threads / step * step;
  const auto memory = allocate<float>(part * threads);
  const auto rounds = std::max<std::int64_t>(1, (16 << 20) / bytes);  // long enough for the clock
  const auto each = [&](const auto& f) {
    team::run(threads, [&](std::int64_t t, std::int64_t) { f(memory.get() + t * part); });
  };
  each([&](float* p) { std::fill_n(p, part, 1.0f); });
  const double once = least(0.3, [&] {
    each([&](const float* p) {
      detail::vec sum[sums]{};
      for (std::int64_t r = 0; r < rounds; ++r)
        for (std::int64_t i = 0; i < part; i += step) {
          DICE_UNROLL
          for (int s = 0; s < sums; ++s) sum[s] += detail::load(p + i + s * detail::width);
        }
      for (int s = 1; s < sums; ++s) sum[0] += sum[s];
      kept = sum[0][0];
    });
  });
  return static_cast<double>(part * threads * rounds) * sizeof(float) / once;
}

/// One level of memory: it holds up to `holds` bytes for all threads; and how fast it is read.
struct level {
  const char* name;
  std::int64_t holds;
  double bytes_per_second;
};

/// Bytes of the first core's cache of level 2 or 3, as Linux reports them (sysconf() of glibc 2.36 makes AMD's third level
/// 12 times too large); 0 without such a cache.
inline std::int64_t cache_bytes(int of_level) {
  for (int i = 0;; ++i) {
    const auto folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    std::ifstream level(folder + "/level"), size(folder + "/size");
    int number = 0;
    std::int64_t kibibytes = 0;
    if (!(level >> number) || !(size >> kibibytes)) return 0;
    if (number == of_level) return 1024 * kibibytes;
  }
}

/// Second- and third-level cache, and memory, for `threads` threads with a second-level cache each. Reads fill half of a
/// level (an eighth of the third, which others may share), and far exceed the caches for memory.
inline std::vector<level> levels(int threads) {
  const std::int64_t l2 = std::max<std::int64_t>(cache_bytes(2), 256 << 10) * threads, l3 = cache_bytes(3);
  std::vector<level> out{{"L2", l2 / 2, bandwidth(l2 / 2, threads)}};
  if (l3 > 2 * l2) out.push_back({"L3", l3 / 2, bandwidth(std::max(l3 / 8, 2 * l2), threads)});
  const auto beyond = std::max<std::int64_t>(4 * l3, 256 << 20);
  out.push_back({"memory", std::numeric_limits<std::int64_t>::max(), bandwidth(beyond, threads)});
  return out;
}

}  // namespace bench
