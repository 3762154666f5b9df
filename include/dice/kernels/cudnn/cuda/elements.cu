// Kernels of single elements, and those that move them.
#include "dice/kernels/cudnn/cuda/launch.cuh"

namespace dice::kernels::cudnn {

__global__ void each_element(elements p) {
  const int i = thread_index();
  if (i >= p.n) return;
  float x = p.x[i];
  if (p.scale || p.shift) {
    const int c = i / p.pixels % p.channels;
    if (p.scale) x *= p.scale[c];
    if (p.shift) x += p.shift[c];
  }
  put(p.y, i, x, p.end);
}
cudaError_t start(const elements& p, cudaStream_t on) { return launch_each(each_element, p, p.n, on); }

using graph::arithmetic;
__device__ inline float compute(arithmetic op, float a, float b) {
  switch (op) {
    case arithmetic::add:
      return a + b;
    case arithmetic::sub:
      return a - b;
    case arithmetic::mul:
      return a * b;
    case arithmetic::div:
      return a / b;
    case arithmetic::max:
      return b != b ? b : a < b ? b : a;
    case arithmetic::min:
      return b != b ? b : a > b ? b : a;
    case arithmetic::p_relu:
      return a < 0.0f ? a * b : a;
    case arithmetic::pow:
      return powf(a, b);
    case arithmetic::where:
      return b == b ? b : a;
  }
  return 0;
}

__global__ void each_pair(binary p) {
  const int i = thread_index();
  if (i >= p.n) return;
  int rest = i, a = 0, b = 0;
  for (int k = p.rank - 1; k >= 0; --k) {
    const int at = rest % p.extent[k];
    rest /= p.extent[k];
    a += at * p.stride_a[k];
    b += at * p.stride_b[k];
  }
  put(p.y, i, compute(p.op, p.a[a], p.b[b]), p.end);
}
cudaError_t start(const binary& p, cudaStream_t on) { return launch_each(each_pair, p, p.n, on); }

__global__ void each_gathered(gather p) {
  const int i = thread_index();
  if (i >= p.n) return;
  int rest = i, from = 0;
  bool inside = true;
  for (int k = p.rank - 1; k >= 0; --k) {
    int q = rest % p.extent[k] * p.multiply[k] + p.add[k];
    rest /= p.extent[k];
    if (p.divide[k] != 1) q /= p.divide[k];
    const int last = p.inside[k] - 1;
    if (q < 0 || q > last) {
      if (p.outside == beyond::edge) q = q < 0 ? 0 : last;
      else if (p.outside == beyond::reflect) q = q < 0 ? -q : 2 * last - q;
      else if (p.outside == beyond::wrap) q = (q % p.inside[k] + p.inside[k]) % p.inside[k];
      else inside = false;
    }
    from += q * p.stride[k];
  }
  put(p.y, i, inside ? p.x[from] : p.value, p.end);
}
cudaError_t start(const gather& p, cudaStream_t on) { return launch_each(each_gathered, p, p.n, on); }

__global__ void each_picked(pick p) {
  const int i = thread_index();
  if (i >= p.n) return;
  const float asked = p.indices[i / p.inner % p.extent];
  const int last = p.extent_in - 1, k = asked > 0 ? asked < static_cast<float>(last) ? static_cast<int>(asked) : last : 0;
  put(p.y, i, p.x[(i / p.inner / p.extent * p.extent_in + k) * p.inner + i % p.inner], p.end);
}
cudaError_t start(const pick& p, cudaStream_t on) { return launch_each(each_picked, p, p.n, on); }

__global__ void each_resampled(resample p) {
  const int i = thread_index();
  if (i >= p.n) return;
  ops::samples of[max_axes];
  bool beyond = false;
  for (int k = p.rank - 1, rest = i; k >= 0; --k) {
    of[k] = ops::samples_of(p.axis[k], rest % p.extent[k] + p.first_out[k]);
    rest /= p.extent[k];
    beyond = beyond || of[k].beyond;
  }
  float sum = 0;
  int at[max_axes] = {};  // which sample of each axis, all combinations in turn
  for (bool more = !beyond; more;) {
    int from = 0;
    float w = 1;
    for (int k = 0; k < p.rank; ++k) {
      from = from * p.extent_in[k] + of[k].at(at[k], p.axis[k].in) - p.first_in[k];
      w *= of[k].weight[at[k]];
    }
    sum += w * p.x[from];
    int k = p.rank - 1;
    while (k >= 0 && ++at[k] == of[k].count) at[k--] = 0;
    more = k >= 0;
  }
  put(p.y, i, beyond ? p.extrapolation : sum, p.end);
}
cudaError_t start(const resample& p, cudaStream_t on) { return launch_each(each_resampled, p, p.n, on); }

__global__ void each_filtered(filter p) {
  const int i = thread_index();
  if (i >= p.n) return;
  const int k = i / p.inner % p.extent;
  const float* const x = p.x + i / p.inner / p.extent * p.extent_in * p.inner + i % p.inner;
  const ops::filtered s = ops::filtered_of(p.axis, k + p.first_out);
  float sum = 0, weights = 0;
  for (int t = 0; t < s.count; ++t) {
    const float w = s.weight(p.axis, t);
    sum += w * x[(s.at(t, p.axis.in) - p.first_in) * p.inner];
    weights += w;
  }
  put(p.y, i, sum / weights, p.end);
}
cudaError_t start(const filter& p, cudaStream_t on) { return launch_each(each_filtered, p, p.n, on); }

__global__ void each_pixel(depth_to_space p) {
  const int i = thread_index();
  if (i >= p.n) return;
  const int x = i % p.width + p.crop[1], y = i / p.width % p.height + p.crop[0];
  const int channel = i / p.width / p.height % p.channels, image = i / p.width / p.height / p.channels;
  const int block = (channel / p.group * p.factors[0] + y % p.factors[0]) * p.factors[1] + x % p.factors[1];
  const int in_channels = p.channels * p.factors[0] * p.factors[1];
  const int from = image * in_channels + block * p.group + channel % p.group;
  put(p.y, i, p.x[(from * p.in_height + y / p.factors[0]) * p.in_width + x / p.factors[1]], p.end);
}
cudaError_t start(const depth_to_space& p, cudaStream_t on) { return launch_each(each_pixel, p, p.n, on); }

__global__ void each_of_rows(rows p) {
  const int i = thread_index();
  if (i < p.count * p.columns) p.y[i / p.columns * p.y_pitch + i % p.columns] = p.x[i];
}
cudaError_t start(const rows& p, cudaStream_t on) { return launch_each(each_of_rows, p, p.count * p.columns, on); }

__global__ void each_converted(convert p) {
  constexpr int block = 16;
  const int blocks = (p.channels + block - 1) / block;
  const int i = thread_index();  // in the result, so that writes are even
  if (p.to_blocked) {
    if (i >= p.images * blocks * block * p.pixels) return;
    const int lane = i % block, pixel = i / block % p.pixels, of = i / block / p.pixels;
    const int channel = of % blocks * block + lane, image = of / blocks;
    p.y[i] = channel < p.channels ? p.x[(image * p.channels + channel) * p.pixels + pixel] : 0.0f;
  } else {
    if (i >= p.images * p.channels * p.pixels) return;
    const int pixel = i % p.pixels, channel = i / p.pixels % p.channels, image = i / p.pixels / p.channels;
    p.y[i] = p.x[((image * blocks + channel / block) * p.pixels + pixel) * block + channel % block];
  }
}
cudaError_t start(const convert& p, cudaStream_t on) {
  const int channels = p.to_blocked ? (p.channels + 15) / 16 * 16 : p.channels;
  return launch_each(each_converted, p, p.images * channels * p.pixels, on);
}

const char* built_for() { return DICE_CUDA_BUILT_FOR; }

}  // namespace dice::kernels::cudnn
