#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// A graph input: where frames enter, as float32. For the model they hold `number`, as files of frames may, too.
struct input {
  static constexpr std::string_view onnx = "Input";
  tensor::shape extents{};
  tensor::number number = tensor::number::float32;
  DICE_MEMBERS(extents, number)
  static constexpr const char* always_written = "extents";

  constexpr tensor::shape infer(graph::shapes) const { return extents; }
};

}  // namespace dice::ops
