// Kernels of sliding windows: pooling and depthwise convolution.
#include "dice/kernels/cudnn/cuda/launch.cuh"

namespace dice::kernels::cudnn {

__global__ void each_pooled(pool p) {
  const int i = thread_index();
  if (i >= p.planes * p.out_height * p.out_width) return;
  const int ox = i % p.out_width, oy = i / p.out_width % p.out_height, plane = i / p.out_width / p.out_height;
  const float* from = p.x + plane * p.in_height * p.in_width;
  const int top = oy * p.strides[0] - p.pads[0], left = ox * p.strides[1] - p.pads[1];
  float result = p.how == pooling::largest ? -INFINITY : 0.0f;
  int inside = 0, padded = 0;
  for (int ky = 0; ky < p.kernel[0]; ++ky) {
    const int y = top + ky * p.dilations[0];
    for (int kx = 0; kx < p.kernel[1]; ++kx) {
      const int x = left + kx * p.dilations[1];
      padded += y < p.in_height + p.pads[2] && x < p.in_width + p.pads[3];
      if (y < 0 || y >= p.in_height || x < 0 || x >= p.in_width) continue;
      const float value = from[y * p.in_width + x];
      if (p.how != pooling::largest) {
        result += value;
        ++inside;
      } else if (value > result || value != value) result = value;  // NaN wins, as in PyTorch
    }
  }
  if (p.how != pooling::largest) {
    const int n = p.how == pooling::mean_padded ? padded : inside;
    result = n > 0 ? result / static_cast<float>(n) : 0.0f;
  }
  put(p.y, i, result, p.end);
}
cudaError_t start(const pool& p, cudaStream_t on) {
  return launch_each(each_pooled, p, p.planes * p.out_height * p.out_width, on);
}

/// Height × Width is the window, known at compile time so that its loops are unrolled; 0 × 0: any.
template <int Height, int Width> __global__ void each_depthwise(depthwise p) {
  const int i = thread_index();
  if (i >= p.images * p.channels * p.out_height * p.out_width) return;
  const int ox = i % p.out_width, oy = i / p.out_width % p.out_height, plane = i / p.out_width / p.out_height;
  const int channel = plane % p.channels;
  const int height = Height > 0 ? Height : p.kernel[0], width = Width > 0 ? Width : p.kernel[1];
  const float* from = p.x + plane * p.in_height * p.in_width;
  const float* weights = p.weights + channel * height * width;
  const int top = oy * p.strides[0] - p.pads[0], left = ox * p.strides[1] - p.pads[1];
  float total = p.bias ? p.bias[channel] : 0.0f;
#pragma unroll
  for (int ky = 0; ky < height; ++ky) {
    const int y = top + ky * p.dilations[0];
#pragma unroll
    for (int kx = 0; kx < width; ++kx) {
      const int x = left + kx * p.dilations[1];
      if (y >= 0 && y < p.in_height && x >= 0 && x < p.in_width)
        total += from[y * p.in_width + x] * weights[ky * width + kx];
    }
  }
  put(p.y, i, total, p.end);
}
cudaError_t start(const depthwise& p, cudaStream_t on) {
  const int n = p.images * p.channels * p.out_height * p.out_width;
  if (p.kernel[0] == 3 && p.kernel[1] == 3) return launch_each(each_depthwise<3, 3>, p, n, on);
  if (p.kernel[0] == 5 && p.kernel[1] == 5) return launch_each(each_depthwise<5, 5>, p, n, on);
  return launch_each(each_depthwise<0, 0>, p, n, on);
}

}  // namespace dice::kernels::cudnn
