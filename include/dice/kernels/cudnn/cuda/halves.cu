// Kernels of 16-bit numbers.
#include "dice/kernels/cudnn/cuda/launch.cuh"

#include <cuda_fp16.h>

#include <cstring>

namespace dice::kernels::cudnn {

/// Converts a 16-bit number to float32, and back, rounding to nearest even.
__device__ inline float wide(unsigned short bits, bool bf16) {
  if (!bf16) {
    __half_raw half;
    half.x = bits;
    return __half2float(__half(half));
  }
  const unsigned all = static_cast<unsigned>(bits) << 16;
  float x;
  memcpy(&x, &all, sizeof x);
  return x;
}
__device__ inline unsigned short narrowed(float x, bool bf16) {
  if (!bf16) return static_cast<__half_raw>(__float2half_rn(x)).x;
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<unsigned short>(bits >> 16 | 0x40);  // stays NaN
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__global__ void each_narrowed(narrow p) {
  const int i = thread_index();
  if (i >= p.images * p.pixels * p.padded) return;
  const int channel = i % p.padded, pixel = i / p.padded % p.pixels, image = i / p.padded / p.pixels;
  p.y[i] = narrowed(channel < p.channels ? p.x[(image * p.channels + channel) * p.pixels + pixel] : 0.0f, p.bf16);
}
cudaError_t start(const narrow& p, cudaStream_t on) {
  return launch_each(each_narrowed, p, p.images * p.pixels * p.padded, on);
}

__global__ void each_widened(widen p) {
  const int i = thread_index();
  if (i >= p.images * p.channels * p.pixels) return;
  const int pixel = i % p.pixels, channel = i / p.pixels % p.channels, image = i / p.pixels / p.channels;
  const float x = wide(p.x[(image * p.pixels + pixel) * p.padded + channel], p.bf16);
  put(p.y, i, x + (p.bias ? p.bias[channel] : 0.0f), p.end);
}
cudaError_t start(const widen& p, cudaStream_t on) {
  return launch_each(each_widened, p, p.images * p.channels * p.pixels, on);
}

/// Vectors: reads eight weights and four elements of x at a time, which must be aligned accordingly.
template <bool Vectors> __global__ void each_half_product(half_matrix p) {
  const int column = warp_index() / p.rows, row = warp_index() % p.rows;
  if (column >= p.columns) return;
  const unsigned short* w = p.weights + static_cast<long long>(column) * p.depth;
  const float* x = p.x + static_cast<long long>(row) * p.depth;
  float total = 0;
  if (Vectors) {
#pragma unroll 4
    for (int k = lane_index() * 8; k < p.depth; k += warp * 8) {
      const uint4 all = *reinterpret_cast<const uint4*>(w + k);
      unsigned short eight[8];
      memcpy(eight, &all, sizeof eight);
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(x + k + j);
        total += wide(eight[j], p.bf16) * four.x + wide(eight[j + 1], p.bf16) * four.y +
                 wide(eight[j + 2], p.bf16) * four.z + wide(eight[j + 3], p.bf16) * four.w;
      }
    }
  } else {
    for (int k = lane_index(); k < p.depth; k += warp) total += wide(w[k], p.bf16) * x[k];
  }
  total = sum_of_lanes(total);
  if (lane_index() == 0) put(p.y, row * p.columns + column, total + (p.bias ? p.bias[column] : 0.0f), p.end);
}
cudaError_t start(const half_matrix& p, cudaStream_t on) {
  const auto at = reinterpret_cast<unsigned long long>(p.weights) | reinterpret_cast<unsigned long long>(p.x);
  const bool aligned = p.depth % 8 == 0 && at % sizeof(uint4) == 0;
  return launch_warps(aligned ? each_half_product<true> : each_half_product<false>, p, p.rows * p.columns, on);
}

}  // namespace dice::kernels::cudnn
