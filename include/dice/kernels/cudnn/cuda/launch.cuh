// How kernels are started, and what their threads share. A translation unit that is not compiled for GPUs belongs to a test
// that runs kernels on the CPU, and provides emulated::each and emulated::warps.
#pragma once

#include "dice/kernels/cudnn/cuda/kernels.hpp"

#include <cuda_runtime.h>

namespace dice::kernels::cudnn {

/// Lanes of a warp on all GPUs.
constexpr int warp = 32;
constexpr int block_threads = 128;

#ifdef __CUDACC__
template <class Parameters>
cudaError_t launch(void (*kernel)(Parameters), Parameters p, long long threads, cudaStream_t on) {
  void* arguments[] = {&p};
  const auto blocks = static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  return blocks == 0
             ? cudaSuccess
             : cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block_threads), arguments, 0, on);
}
/// One thread for each of n indices (some more are idle: they find their index beyond n).
template <class Parameters>
cudaError_t launch_each(void (*kernel)(Parameters), const Parameters& p, int n, cudaStream_t on) {
  return launch(kernel, p, n, on);
}
/// One warp for each of n indices.
template <class Parameters>
cudaError_t launch_warps(void (*kernel)(Parameters), const Parameters& p, int n, cudaStream_t on) {
  return launch(kernel, p, static_cast<long long>(n) * warp, on);
}
#else
template <class Parameters>
cudaError_t launch_each(void (*kernel)(Parameters), const Parameters& p, int n, cudaStream_t on) {
  return emulated::each([=] { kernel(p); }, n, on);
}
template <class Parameters>
cudaError_t launch_warps(void (*kernel)(Parameters), const Parameters& p, int n, cudaStream_t on) {
  return emulated::warps([=] { kernel(p); }, n, on);
}
#endif

/// The index of this thread, and of this warp.
__device__ inline int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int warp_index() {
  return static_cast<int>((static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / warp);
}
__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % warp); }

/// The sum of x over all lanes, and its maximum; every lane gets it. The maximum may lose NaN.
__device__ inline float sum_of_lanes(float x) {
  for (int distance = warp / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}
__device__ inline float largest_of_lanes(float x) {
  for (int distance = warp / 2; distance > 0; distance /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}

/// Comparisons are written so that NaN passes, as in kernels/activation.hpp.
__device__ inline float limited(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return raised > high ? high : raised;
}
__device__ inline float apply(function f, float a, float b, float x) {
  switch (f) {
    case function::none:
      return x;
    case function::relu:
      return x < 0.0f ? 0.0f : x;
    case function::leaky_relu:
      return x < 0.0f ? a * x : x;
    case function::elu:
      return x < 0.0f ? a * expm1f(x) : x;
    case function::clip:
      return limited(x, a, b);
    case function::sigmoid:
      return 1.0f / (1.0f + expf(-x));
    case function::tanh:
      return tanhf(x);
    case function::hard_sigmoid:
      return limited(a * x + b, 0.0f, 1.0f);
    case function::hard_swish:
      return x * limited(x * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f);
    case function::abs:
      return fabsf(x);
    case function::ceil:
      return ceilf(x);
    case function::celu:
      return x < 0.0f ? a * expm1f(x / a) : x;
    case function::erf:
      return erff(x);
    case function::exp:
      return expf(x);
    case function::floor:
      return floorf(x);
    case function::gelu:
      return 0.5f * x * (1.0f + erff(x * 0.707106781f));
    case function::gelu_tanh:
      return 0.5f * x * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
    case function::log:
      return logf(x);
    case function::mish:
      return x > 20.0f ? x : x * tanhf(log1pf(expf(x)));
    case function::neg:
      return -x;
    case function::reciprocal:
      return 1.0f / x;
    case function::round:
      return rintf(x);
    case function::selu:
      return b * (x < 0.0f ? a * expm1f(x) : x);
    case function::sign:
      return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
    case function::softplus:
      return x > 0.0f ? x + log1pf(expf(-x)) : log1pf(expf(x));
    case function::softsign:
      return x / (1.0f + fabsf(x));
    case function::sqrt:
      return sqrtf(x);
    case function::swish:
      return x / (1.0f + expf(-a * x));
    case function::thresholded_relu:
      return x <= a ? 0.0f : x;
  }
  return x;
}

/// Writes result i.
__device__ inline void put(float* y, int i, float x, const ending& e) {
  if (e.residual) x += e.residual[i];
  y[i] = apply(e.f, e.a, e.b, x);
}

}  // namespace dice::kernels::cudnn
