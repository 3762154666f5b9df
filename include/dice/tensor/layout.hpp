#pragma once

#include "dice/tensor/shape.hpp"

#include <cstdint>

namespace dice::tensor {

/// Order of a tensor's elements in memory.
enum class layout : std::uint8_t {
  plain,    ///< row-major, as ONNX: N, C, H, W
  blocked,  ///< N, C / 16, H, W, 16: the 16 channels of a block lie together for each pixel; in the last block, lanes beyond
            ///< C hold arbitrary values
};

/// Channels of a block, the same on every board whatever its vector registers: ranks may have binaries for different CPUs,
/// but must agree on the plan, its buffers and messages. Two AVX2 vectors, four NEON vectors.
inline constexpr std::int64_t block = 16;

/// Blocks of `channels` channels.
constexpr std::int64_t blocks(std::int64_t channels) { return (channels + block - 1) / block; }

/// Whether a tensor of shape `s` has a blocked layout: N, C, (H,) W.
constexpr bool has_blocks(const shape& s) { return s.rank == 3 || s.rank == 4; }

/// Elements of a tensor of shape `s` in memory, unused lanes included.
constexpr std::int64_t elements(const shape& s, layout l) {
  if (l == layout::plain) return s.elements();
  return s.dim[0] * ((s.dim[1] + block - 1) / block * block) * s.product(2, s.rank);
}
constexpr std::int64_t bytes(const shape& s, layout l) { return elements(s, l) * element_bytes; }

}  // namespace dice::tensor
