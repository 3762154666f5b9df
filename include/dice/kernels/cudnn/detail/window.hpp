#pragma once

#include "dice/graph/graph.hpp"

#include <array>
#include <cstdint>

namespace dice::kernels::cudnn {

/// Extents of an image (N, C, H, W); tensors of rank 3 (N, C, W) have one row.
inline std::array<std::int64_t, 4> image_of(const tensor::shape& s) {
  return s.rank == 3 ? std::array{s[0], s[1], std::int64_t{1}, s[2]} : std::array{s[0], s[1], s[2], s[3]};
}

}  // namespace dice::kernels::cudnn
