#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace dice::tensor {

/// Largest number of axes of a tensor.
inline constexpr int max_rank = 8;

/// Extents of a tensor, outermost axis first (N, C, H, W for images); a structural type.
/// Axes past `rank` hold 1, so that equal shapes compare equal member by member.
struct shape {
  int rank = 0;
  std::int64_t dim[max_rank]{1, 1, 1, 1, 1, 1, 1, 1};

  constexpr shape() = default;
  /// Throws std::length_error (a compile error in constant expressions) beyond `max_rank` axes.
  constexpr shape(std::initializer_list<std::int64_t> extents) {
    for (auto e : extents) push_back(e);
  }
  constexpr void push_back(std::int64_t extent) {
    if (rank == max_rank) throw std::length_error("a tensor has at most 8 axes");
    dim[rank++] = extent;
  }
  constexpr std::int64_t operator[](int axis) const { return dim[axis]; }
  constexpr std::int64_t& operator[](int axis) { return dim[axis]; }
  /// Product of the extents of axes [from, to).
  constexpr std::int64_t product(int from, int to) const {
    std::int64_t n = 1;
    for (int a = from; a < to; ++a) n *= dim[a];
    return n;
  }
  constexpr std::int64_t elements() const { return product(0, rank); }
  friend constexpr bool operator==(const shape&, const shape&) = default;
};

}  // namespace dice::tensor
