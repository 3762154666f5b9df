// Kernels in which the lanes of a warp compute one result together, and LRN.
#include "dice/kernels/cudnn/cuda/launch.cuh"

namespace dice::kernels::cudnn {

/// Rows of x that a warp multiplies by the same weights.
constexpr int rows_at_once = 4;

/// Vectors: reads x and weights four elements at a time, which must be aligned accordingly.
template <bool Vectors> __global__ void each_product(matrix p) {
  const int groups = (p.rows + rows_at_once - 1) / rows_at_once;
  const int column = warp_index() / groups, first = warp_index() % groups * rows_at_once;
  if (column >= p.columns) return;
  const float* w = p.weights + static_cast<long long>(column) * p.depth;
  const int rows = p.rows - first < rows_at_once ? p.rows - first : rows_at_once;
  float totals[rows_at_once] = {};
  if (Vectors) {
    const float4* w4 = reinterpret_cast<const float4*>(w);
#pragma unroll 4
    for (int k = lane_index(); k < p.depth / 4; k += warp) {
      const float4 a = w4[k];
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r) {
        if (r >= rows) break;
        const float4 b = reinterpret_cast<const float4*>(p.x + static_cast<long long>(first + r) * p.depth)[k];
        totals[r] += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
    }
  } else {
#pragma unroll 4
    for (int k = lane_index(); k < p.depth; k += warp) {
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r)
        if (r < rows) totals[r] += w[k] * p.x[static_cast<long long>(first + r) * p.depth + k];
    }
  }
  for (int r = 0; r < rows; ++r) {
    const float total = sum_of_lanes(totals[r]);
    if (lane_index() == 0) put(p.y, (first + r) * p.columns + column, total + (p.bias ? p.bias[column] : 0.0f), p.end);
  }
}
cudaError_t start(const matrix& p, cudaStream_t on) {
  const auto aligned = [](const float* at) { return reinterpret_cast<unsigned long long>(at) % sizeof(float4) == 0; };
  const int n = p.columns * ((p.rows + rows_at_once - 1) / rows_at_once);
  if (p.depth % 4 == 0 && aligned(p.x) && aligned(p.weights)) return launch_warps(each_product<true>, p, n, on);
  return launch_warps(each_product<false>, p, n, on);
}

__device__ inline int offset_of(int i, int rank, const int* extent, const int* stride) {
  int out = 0;
  for (int k = rank - 1; k >= 0; --k) {
    out += i % extent[k] * stride[k];
    i /= extent[k];
  }
  return out;
}

/// What a lane has found so far; `at` < 0: nothing.
struct found {
  float value;
  int at;
};
__device__ inline bool is_better(const reduce& p, const found& a, const found& b) {
  if (a.at < 0 || b.at < 0) return a.at >= 0;
  if (a.value != a.value || b.value != b.value)
    return a.value != a.value && (b.value == b.value || a.at < b.at);  // the first NaN
  if (a.value == b.value) return p.last_index ? a.at > b.at : a.at < b.at;
  return p.how == joining::arg_max || p.how == joining::max ? a.value > b.value : a.value < b.value;
}

__global__ void each_reduced(reduce p) {
  const int i = warp_index();
  if (i >= p.outputs) return;
  const float* from = p.x + offset_of(i, p.kept_rank, p.kept_extent, p.kept_stride);
  float all = p.how == joining::prod ? 1.0f : 0.0f;
  found best{0, -1};
  for (int k = lane_index(); k < p.size; k += warp) {
    const float x = from[offset_of(k, p.over_rank, p.over_extent, p.over_stride)];
    if (p.how == joining::sum) all += x;
    else if (p.how == joining::sum_square) all += x * x;
    else if (p.how == joining::prod) all *= x;
    else if (const found here{x, k}; is_better(p, here, best)) best = here;
  }
  for (int distance = warp / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, all, distance);
    all = p.how == joining::prod ? all * other : all + other;
    const found there{__shfl_xor_sync(0xffffffffu, best.value, distance),
                      static_cast<int>(__shfl_xor_sync(0xffffffffu, static_cast<float>(best.at), distance))};
    if (is_better(p, there, best)) best = there;
  }
  if (p.how == joining::max || p.how == joining::min) all = best.value;
  if (p.how == joining::arg_max || p.how == joining::arg_min) all = static_cast<float>(best.at);
  if (lane_index() == 0) put(p.y, i, all * p.scale, p.end);
}
cudaError_t start(const reduce& p, cudaStream_t on) { return launch_warps(each_reduced, p, p.outputs, on); }

__global__ void each_softmax(softmax p) {
  const int row = warp_index();
  if (row >= p.outer * p.inner) return;
  const int first = row / p.inner * p.size * p.inner + row % p.inner;
  float top = -INFINITY;
  for (int k = lane_index(); k < p.size; k += warp) top = fmaxf(top, p.x[first + k * p.inner]);
  top = largest_of_lanes(top);
  float total = 0;
  for (int k = lane_index(); k < p.size; k += warp) total += expf(p.x[first + k * p.inner] - top);
  total = sum_of_lanes(total);
  for (int k = lane_index(); k < p.size; k += warp) {
    const int i = first + k * p.inner;
    put(p.y, i, p.log ? p.x[i] - top - logf(total) : expf(p.x[i] - top) / total, p.end);
  }
}
cudaError_t start(const softmax& p, cudaStream_t on) { return launch_warps(each_softmax, p, p.outer * p.inner, on); }

__global__ void each_row(normalization p) {
  const int row = warp_index();
  if (row >= p.outer * p.inner) return;
  const int first = row / p.inner * p.size * p.inner + row % p.inner;
  const float n = static_cast<float>(p.size);
  float mean = 0, total = 0;
  if (p.by == dividing::deviation) {
    for (int k = lane_index(); k < p.size; k += warp) mean += p.x[first + k * p.inner];
    mean = sum_of_lanes(mean) / n;
  }
  for (int k = lane_index(); k < p.size; k += warp) {
    const float x = p.x[first + k * p.inner] - mean;
    total += p.by == dividing::l1 ? fabsf(x) : x * x;
  }
  total = sum_of_lanes(total);
  float by = p.by == dividing::l1 ? total : p.by == dividing::l2 ? sqrtf(total) : sqrtf(total / n + p.epsilon);
  if (by == 0.0f) by = 1.0f;
  for (int k = lane_index(); k < p.size; k += warp) {
    const int i = first + k * p.inner;
    float y = (p.x[i] - mean) / by;
    if (p.scale) y *= p.scale[offset_of(i, p.rank, p.extent, p.stride_scale)];
    if (p.bias) y += p.bias[offset_of(i, p.rank, p.extent, p.stride_bias)];
    put(p.y, i, y, p.end);
  }
}
cudaError_t start(const normalization& p, cudaStream_t on) { return launch_warps(each_row, p, p.outer * p.inner, on); }

__global__ void each_cumulated(cumulate p) {
  const int i = thread_index();
  if (i >= p.outer * p.inner) return;
  const int first = i / p.inner * p.extent * p.inner + i % p.inner;
  float total = 0;
  for (int k = 0; k < p.extent; ++k) {
    const int at = first + (p.reverse ? p.extent - 1 - k : k) * p.inner;
    const float x = p.x[at];
    put(p.y, at, p.exclusive ? total : total + x, p.end);
    total += x;
  }
}
cudaError_t start(const cumulate& p, cudaStream_t on) { return launch_each(each_cumulated, p, p.outer * p.inner, on); }

__global__ void each_sum(einsum p) {
  const int i = thread_index();
  if (i >= p.n) return;
  const float* a = p.a + offset_of(i, p.rank, p.extent, p.stride_a);
  const float* b = p.b + offset_of(i, p.rank, p.extent, p.stride_b);
  float total = 0;
  for (int d = 0; d < p.depth; ++d) total += a[d * p.depth_a] * b[d * p.depth_b];
  put(p.y, i, total * p.factor, p.end);
}
cudaError_t start(const einsum& p, cudaStream_t on) { return launch_each(each_sum, p, p.n, on); }

__global__ void each_normalized(lrn p) {
  const int i = thread_index();
  if (i >= p.images * p.channels * p.pixels) return;
  const int pixel = i % p.pixels, channel = i / p.pixels % p.channels, image = i / p.pixels / p.channels;
  const float* x = p.x + image * p.channels * p.pixels + pixel;
  const int from = channel - (p.size - 1) / 2, to = channel + p.size / 2;
  float squares = 0;
  for (int c = from < 0 ? 0 : from; c <= to && c < p.channels; ++c) squares += x[c * p.pixels] * x[c * p.pixels];
  put(p.y, i, x[channel * p.pixels] / powf(p.bias + p.alpha / static_cast<float>(p.size) * squares, p.beta), p.end);
}
cudaError_t start(const lrn& p, cudaStream_t on) {
  return launch_each(each_normalized, p, p.images * p.channels * p.pixels, on);
}

}  // namespace dice::kernels::cudnn
