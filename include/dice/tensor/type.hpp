#pragma once

#include "dice/meta/view.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace dice::tensor {

/// How integers stand for real numbers (ONNX QuantizeLinear): real = scale · (integer − zero point). There is one scale, and
/// one zero point, for all elements, or one for each index on `axis`.
struct quantization {
  meta::view<float> scales{};
  meta::view<std::int32_t> zero_points{};  ///< as many; empty: all 0
  int axis = -1;                           ///< -1: one for all elements

  friend constexpr bool operator==(const quantization& a, const quantization& b) {
    if (a.axis != b.axis || a.scales.size() != b.scales.size() || a.zero_points.size() != b.zero_points.size()) return false;
    for (std::size_t i = 0; i < a.scales.size(); ++i)
      if (a.scales[i] != b.scales[i]) return false;
    for (std::size_t i = 0; i < a.zero_points.size(); ++i)
      if (a.zero_points[i] != b.zero_points[i]) return false;
    return true;
  }
};

/// The type of a tensor: its shape, what its elements are, and what they stand for. A structural type. Only it knows how
/// many bytes a tensor has; a shape does not.
struct type : shape {
  number element = number::float32;
  const quantization* quantized = nullptr;  ///< null: elements are the numbers themselves

  constexpr type() = default;
  constexpr type(std::initializer_list<std::int64_t> extents) : shape(extents) {}
  explicit constexpr type(const shape& s, number of = number::float32, const quantization* by = nullptr)
      : shape(s), element(of), quantized(by) {}

  constexpr std::int64_t element_bytes() const { return detail::sizes[static_cast<int>(element)]; }
  constexpr std::int64_t bytes() const { return elements() * element_bytes(); }
  friend constexpr bool operator==(const type& a, const type& b) {
    if (static_cast<const shape&>(a) != static_cast<const shape&>(b) || a.element != b.element) return false;
    return a.quantized == b.quantized || (a.quantized && b.quantized && *a.quantized == *b.quantized);
  }
};

}  // namespace dice::tensor
