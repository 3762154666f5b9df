#pragma once

#include <cstdint>

namespace dice::tensor {

/// Order of a tensor's elements in memory.
enum class layout : std::uint8_t {
  plain,  ///< row-major, as ONNX: N, C, H, W
};

}  // namespace dice::tensor
