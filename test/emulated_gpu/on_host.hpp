// What CUDA source needs when g++ compiles it for the CPU (with -include): a thread's position, shuffles between the lanes
// of a warp, and kernels that are started on an emulated stream.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

// Named as CUDA names them.
inline constinit thread_local uint3 threadIdx{}, blockIdx{};
inline constinit thread_local dim3 blockDim{}, gridDim{};

namespace emulated {

/// Starts a kernel of n threads, one after the other, in blocks of 128; the last block is whole, as on a GPU.
cudaError_t each(std::function<void()> thread_body, int n, cudaStream_t);
/// Starts one of n warps, likewise. The lanes of a warp run in turns, from one shuffle to the next.
cudaError_t warps(std::function<void()> lane_body, int n, cudaStream_t);
/// The value of lane (own ^ distance); waits until all lanes that have not returned have given theirs. Ends the program
/// outside of warps().
std::uint64_t exchange(std::uint64_t own, int distance);

}  // namespace emulated

template <class T> T __shfl_xor_sync(unsigned, T x, int distance) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  bits = emulated::exchange(bits, distance);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
template <class T> T __ldg(const T* at) { return *at; }
