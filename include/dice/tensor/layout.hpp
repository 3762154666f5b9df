#pragma once

#include "dice/tensor/type.hpp"

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
constexpr std::int64_t bytes(const type& t, layout l) { return elements(t, l) * detail::sizes[static_cast<int>(t.element)]; }

/// How a tensor lies in memory.
struct storage {
  tensor::layout layout = tensor::layout::plain;
  /// Elements from one plane (a channel, or a block of channels) to the next, if it is a band of the rows of a larger
  /// tensor; 0: dense. Images follow one another as planes do.
  std::int64_t pitch = 0;
  number element = number::float32;

  /// Elements of one row, of `columns` pixels, in a plane.
  constexpr std::int64_t row(std::int64_t columns) const {
    return columns * (layout == tensor::layout::blocked ? block : 1);
  }
  friend constexpr bool operator==(const storage&, const storage&) = default;
};
/// Bytes from the first to the last element of a tensor of shape `s`.
constexpr std::int64_t bytes(const shape& s, const storage& as) {
  const auto size = size_of(as.element);
  if (as.pitch == 0) return elements(s, as.layout) * size;
  const auto planes = s[0] * (as.layout == layout::blocked ? blocks(s[1]) : s[1]);
  return ((planes - 1) * as.pitch + as.row(s[2] * s[3])) * size;
}

}  // namespace dice::tensor
