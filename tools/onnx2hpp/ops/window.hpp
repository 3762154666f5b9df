#pragma once

#include "graph/node_context.hpp"

#include <array>

namespace onnx2hpp {

/// The window attributes of a convolution or pooling in the form of dice::ops: two axes, of which tensors of rank 3 use the
/// second.
struct window {
  std::array<int, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1};
  std::array<int, 4> pads{};
};

/// Reads strides, dilations, pads and auto_pad for an input of shape `in` and a kernel of the extents `kernel`.
window read_window(node_context& n, const shape& in, const std::vector<std::int64_t>& kernel);

}  // namespace onnx2hpp
