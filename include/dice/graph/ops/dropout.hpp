#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = x: dropout does nothing at inference. ONNX Dropout.
struct dropout {
  static constexpr std::string_view onnx = "Dropout";
  constexpr std::int64_t view(graph::shapes, const tensor::shape&) const { return 0; }
};

}  // namespace dice::ops
