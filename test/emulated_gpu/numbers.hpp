// Reads numbers of tensors in memory as float, and writes them back.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace emulated {

enum class number { f32, f16, bf16 };

inline std::size_t bytes_of(number n) { return n == number::f32 ? 4 : 2; }

inline float read(number n, const void* from, std::int64_t i) {
  if (n == number::f32) return static_cast<const float*>(from)[i];
  if (n == number::f16) return __half2float(static_cast<const __half*>(from)[i]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[i]);
}
inline void write(number n, void* to, std::int64_t i, float x) {
  if (n == number::f32) static_cast<float*>(to)[i] = x;
  else if (n == number::f16) static_cast<__half*>(to)[i] = __float2half_rn(x);
  else static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16_rn(x);
}

/// Calls f(first, last) for parts of 0 … n, on two threads if there is much to do.
inline void split(std::int64_t n, double operations, const std::function<void(std::int64_t, std::int64_t)>& f) {
  if (n < 2 || operations < 1e6) return f(0, n);
  std::thread other([&] { f(n / 2, n); });
  f(0, n / 2);
  other.join();
}

}  // namespace emulated
