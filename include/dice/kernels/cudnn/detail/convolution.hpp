// A convolution, and what follows it, as a graph of cuDNN operations.
#pragma once

#include "dice/kernels/cudnn/detail/engines.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dice::kernels::cudnn {

/// y = relu(convolve(x, w) + z + b), of which relu, z and b are optional. Tensors have four axes.
struct convolution {
  std::array<std::int64_t, 4> x{}, w{},
      y{};  ///< extents: N, C, H, W; output channels, C / groups, kernel; N, channels, H, W
  std::array<int, 2> strides{1, 1}, dilations{1, 1};
  std::array<int, 4> pads{};  ///< top, left, bottom, right
  bool residual = false, bias = false, relu = false;
  bool channels_last = false;  ///< tensors as N, H, W, C and weights with their input channels last; else as ONNX
  int alignment = 16;          ///< of all tensors in memory, bytes
  cudnnDataType_t type = CUDNN_DATA_FLOAT;  ///< of x, w, y and z in memory; sums are float32

  friend bool operator==(const convolution&, const convolution&) = default;
};

namespace names {
/// Unique ids of the tensors in memory.
inline constexpr std::int64_t x = 'x', w = 'w', y = 'y', z = 'z', bias = 'b';
}  // namespace names

namespace operations {

/// Strides along each axis, in elements.
inline std::vector<std::int64_t> strides_of(const std::array<std::int64_t, 4>& s, bool channels_last) {
  if (channels_last) return {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
  return {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
}

inline descriptor tensor_of(std::int64_t id, const std::array<std::int64_t, 4>& s, const convolution& c, bool in_memory) {
  descriptor out(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  out.set(CUDNN_ATTR_TENSOR_DATA_TYPE, in_memory && id != names::bias ? c.type : CUDNN_DATA_FLOAT);
  out.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>(s.begin(), s.end()));
  out.set(CUDNN_ATTR_TENSOR_STRIDES, strides_of(s, c.channels_last));
  out.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  out.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{c.alignment});
  out.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, !in_memory);
  out.finalize("describe a tensor");
  return out;
}

/// y = mode(x, b).
inline descriptor pointwise(cudnnPointwiseMode_t mode, const descriptor& x, const descriptor* b, const descriptor& y) {
  descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    const cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
    how.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, &nan);
  }
  how.finalize("describe a function of elements");
  descriptor out(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  out.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  out.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) out.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  out.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  out.finalize("describe a function of elements");
  return out;
}

}  // namespace operations

/// The graph of a convolution: cuDNN has engines for it only in the order conv, add, bias, ReLU.
inline descriptor graph_of(const target& on, const convolution& c) {
  std::int64_t inner = 1000;
  std::vector<descriptor> operations, tensors;
  const auto last = [&](bool is) { return operations::tensor_of(is ? names::y : inner++, c.y, c, is); };
  tensors.reserve(8);

  descriptor how(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  how.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  how.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {c.strides[0], c.strides[1]});
  how.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, {c.dilations[0], c.dilations[1]});
  how.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {c.pads[0], c.pads[1]});
  how.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {c.pads[2], c.pads[3]});
  how.finalize("describe a convolution");

  const auto x = operations::tensor_of(names::x, c.x, c, true), w = operations::tensor_of(names::w, c.w, c, true);
  tensors.push_back(last(!c.residual && !c.bias && !c.relu));
  auto& convolve = operations.emplace_back(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, tensors.back());
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  convolve.finalize("describe a convolution");

  const auto follow = [&](cudnnPointwiseMode_t f, const descriptor* other, bool ends) {
    tensors.push_back(last(ends));
    operations.push_back(operations::pointwise(f, tensors[tensors.size() - 2], other, tensors.back()));
  };
  if (c.residual) {
    const auto z = operations::tensor_of(names::z, c.y, c, true);
    follow(CUDNN_POINTWISE_ADD, &z, !c.bias && !c.relu);
  }
  if (c.bias) {
    const auto b = operations::tensor_of(names::bias, {1, c.y[1], 1, 1}, c, true);
    follow(CUDNN_POINTWISE_ADD, &b, !c.relu);
  }
  if (c.relu) follow(CUDNN_POINTWISE_RELU_FWD, nullptr, true);
  return graph_of(on, operations);
}

}  // namespace dice::kernels::cudnn
