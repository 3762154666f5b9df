#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x: dropout does nothing at inference. ONNX Dropout.
struct dropout {
  static constexpr std::string_view onnx = "Dropout";
  static constexpr bool is_copy = true;
};

}  // namespace dice::ops
