// dice's own CUDA kernels: what each computes, as plain values, and the functions that start them on a stream. They are
// compiled by nvcc into a library of their own, which has code for many GPUs; nothing else needs nvcc. Tensors are float32
// and have at most 2^30 elements.
#pragma once

#include "dice/graph/activation.hpp"
#include "dice/graph/antialias.hpp"
#include "dice/graph/arithmetic.hpp"
#include "dice/graph/sampling.hpp"

#include <cuda_runtime_api.h>

namespace dice::kernels::cudnn {

inline constexpr int max_axes = 8;

/// Functions of one element, as kernels/activation.hpp defines them; a and b are their attributes.
using function = graph::activation::kind;

/// The last step of a kernel: y[i] = f(y[i] + residual[i]); `residual` may be null.
struct ending {
  function f = function::none;
  float a = 0, b = 0;
  const float* residual = nullptr;
};

/// y[i] = x[i] · scale[c] + shift[c], where c is the channel; `scale` and `shift` may be null. y may be x.
struct elements {
  float* y;
  const float* x;
  int n;
  const float *scale, *shift;
  int channels, pixels;  ///< c = i / pixels % channels
  ending end;
};

/// y = a op b; along axis k of y, which has `extent[k]` elements, the operands advance by their strides. y may be a or b.
struct binary {
  float* y;
  const float *a, *b;
  graph::arithmetic op;
  int n, rank;
  int extent[max_axes], stride_a[max_axes], stride_b[max_axes];
  ending end;
};

/// What elements beyond the input are.
enum class beyond : int { value, edge, reflect, wrap };

/// y[p] = x[q]: q along axis k is (p · multiply[k] + add[k]) / divide[k], where add is 0 or divide is 1. If q is outside 0 …
/// inside[k] - 1, `outside` says what y gets. A step of q is `stride[k]` elements.
struct gather {
  float* y;
  const float* x;
  int n, rank;
  int extent[max_axes], multiply[max_axes], add[max_axes], divide[max_axes], inside[max_axes], stride[max_axes];
  beyond outside;
  float value;
  ending end;
};

/// y[o, k, j] = x[o, indices[k], j]: axis k has `extent` elements, `extent_in` in x; there are `inner` elements j. Indices
/// beyond x name its first or last element.
struct pick {
  float* y;
  const float *x, *indices;
  int n, extent, extent_in, inner;
  ending end;
};

/// y[p] = Σ w x[q] over what samples_of(axis[k], p[k] + first_out[k]) says of each axis k; `first_in` is the position of x
/// in the tensor that the axes describe. Beyond what tf_crop_and_resize takes, y is `extrapolation`.
struct resample {
  float* y;
  const float* x;
  int n, rank;
  int extent[max_axes], extent_in[max_axes], first_out[max_axes], first_in[max_axes];
  ops::sampled_axis axis[max_axes];
  float extrapolation;
  ending end;
};

/// y[o, k, j] = Σ w x[o, q, j] / Σ w over what filtered_of(axis, k + first_out) says; `first_in` as in resample. Axis k has
/// `extent` elements, `extent_in` in x; there are `inner` elements j.
struct filter {
  float* y;
  const float* x;
  int n, extent, extent_in, inner, first_out, first_in;
  ops::sampled_axis axis;
  ending end;
};

/// y[r · y_pitch + c] = x[r · columns + c].
struct rows {
  float* y;
  const float* x;
  int count, columns, y_pitch;
};

/// Blocks of sixteen channels (tensor::layout::blocked) from a plain tensor, with 0 in the lanes beyond its channels, or the
/// reverse.
struct convert {
  float* y;
  const float* x;
  int images, channels, pixels;
  bool to_blocked;
};

enum class pooling : int { largest, mean_inside, mean_padded };

/// Over windows of each plane; `mean_padded` counts what lies in the padding, but not what ceil_mode adds beyond it.
struct pool {
  float* y;
  const float* x;
  int planes, in_height, in_width, out_height, out_width;
  int kernel[2], strides[2], dilations[2], pads[4];
  pooling how;
  ending end;
};

/// Each output channel reads only the input channel of its number; `bias` may be null.
struct depthwise {
  float* y;
  const float *x, *weights, *bias;
  int images, channels, in_height, in_width, out_height, out_width;
  int kernel[2], strides[2], dilations[2], pads[2];
  ending end;
};

/// y[r][n] = Σ x[r][k] w[n][k] + bias[n]; `bias` may be null.
struct matrix {
  float* y;
  const float *x, *weights, *bias;
  int rows, columns, depth;
  ending end;
};

/// The same with weights of 16 bits: fp16 or bf16.
struct half_matrix {
  float* y;
  const float* x;
  const unsigned short* weights;
  const float* bias;
  int rows, columns, depth;
  bool bf16;
  ending end;
};

/// From N, C, H, W to N, H, W, C in 16 bits, with `padded` channels; those beyond C are 0.
struct narrow {
  unsigned short* y;
  const float* x;
  int images, channels, padded, pixels;
  bool bf16;
};
/// The reverse, plus bias[c]; `bias` may be null.
struct widen {
  float* y;
  const unsigned short* x;
  const float* bias;
  int images, channels, padded, pixels;
  bool bf16;
  ending end;
};

enum class joining : int { sum, sum_square, prod, max, min, arg_max, arg_min };

/// Elements joined: output i begins at x + Σ p[k] · kept_stride[k], where p is its position within kept_extent; its elements
/// advance by over_stride within over_extent. The result is multiplied by `scale`. `last_index`: of equal elements, arg_max
/// and arg_min find the last, else the first.
struct reduce {
  float* y;
  const float* x;
  joining how;
  bool last_index;
  float scale;
  int outputs, size;
  int kept_rank, kept_extent[max_axes], kept_stride[max_axes];
  int over_rank, over_extent[max_axes], over_stride[max_axes];
  ending end;
};

/// Along the middle one of three axes; or its logarithm.
struct softmax {
  float* y;
  const float* x;
  int outer, size, inner;
  bool log;
  ending end;
};

/// Sums along the middle one of three axes, as ops::cum_sum.
struct cumulate {
  float* y;
  const float* x;
  int outer, extent, inner;
  bool exclusive, reverse;
  ending end;
};

enum class dividing : int { deviation, root_mean_square, l1, l2 };

/// y = (x - mean) / d · scale + bias along the middle one of three axes; only `deviation` has a mean. Along axis k of y,
/// which has extent[k] elements, scale and bias (which may be null) advance by their strides.
struct normalization {
  float* y;
  const float *x, *scale, *bias;
  int outer, size, inner;
  dividing by;
  float epsilon;
  int rank, extent[max_axes], stride_scale[max_axes], stride_bias[max_axes];
  ending end;
};

/// y = factor · Σ a b over `depth` elements; along axis k of y, which has extent[k] elements, a and b advance by their
/// strides, along the sum by depth_a and depth_b.
struct einsum {
  float* y;
  const float *a, *b;
  int n, rank;
  int extent[max_axes], stride_a[max_axes], stride_b[max_axes];
  int depth, depth_a, depth_b;
  float factor;
  ending end;
};

/// As ops::depth_to_space, of images; `group` counts the channels of a group of the result.
struct depth_to_space {
  float* y;
  const float* x;
  int n, channels, height, width;  ///< of y
  int group, in_height, in_width;
  int factors[2], crop[2];
  ending end;
};

/// Local response normalization over `size` channels. ONNX LRN.
struct lrn {
  float* y;
  const float* x;
  int images, channels, pixels, size;
  float alpha, beta, bias;
  ending end;
};

/// Starts the kernel on the stream.
cudaError_t start(const elements&, cudaStream_t);
cudaError_t start(const binary&, cudaStream_t);
cudaError_t start(const gather&, cudaStream_t);
cudaError_t start(const pick&, cudaStream_t);
cudaError_t start(const resample&, cudaStream_t);
cudaError_t start(const filter&, cudaStream_t);
cudaError_t start(const rows&, cudaStream_t);
cudaError_t start(const convert&, cudaStream_t);
cudaError_t start(const pool&, cudaStream_t);
cudaError_t start(const depthwise&, cudaStream_t);
cudaError_t start(const matrix&, cudaStream_t);
cudaError_t start(const half_matrix&, cudaStream_t);
cudaError_t start(const narrow&, cudaStream_t);
cudaError_t start(const widen&, cudaStream_t);
cudaError_t start(const reduce&, cudaStream_t);
cudaError_t start(const softmax&, cudaStream_t);
cudaError_t start(const cumulate&, cudaStream_t);
cudaError_t start(const normalization&, cudaStream_t);
cudaError_t start(const einsum&, cudaStream_t);
cudaError_t start(const depth_to_space&, cudaStream_t);
cudaError_t start(const lrn&, cudaStream_t);

/// The compute capabilities that the library has code for, as given to nvcc: "75;80;90".
const char* built_for();

}  // namespace dice::kernels::cudnn
