#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// A graph input: where frames enter.
struct input {
  static constexpr std::string_view onnx = "Input";
  tensor::shape extents{};

  constexpr tensor::shape infer(graph::shapes) const { return extents; }
};

}  // namespace dice::ops
