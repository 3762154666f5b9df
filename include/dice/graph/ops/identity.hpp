#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x. ONNX Identity.
struct identity {
  static constexpr std::string_view onnx = "Identity";
  static constexpr bool is_copy = true;
};

}  // namespace dice::ops
