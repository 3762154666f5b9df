#pragma once

namespace dice::kernels::detail {

// The binary operators, of numbers or of vectors.
struct plus {
  template <class T> constexpr T operator()(T a, T b) const { return a + b; }
};
struct minus {
  template <class T> constexpr T operator()(T a, T b) const { return a - b; }
};
struct times {
  template <class T> constexpr T operator()(T a, T b) const { return a * b; }
};
struct over {
  template <class T> constexpr T operator()(T a, T b) const { return a / b; }
};
// NaN if one of the two is NaN.
struct take_larger {
  template <class T> constexpr T operator()(T a, T b) const { return b != b ? b : a < b ? b : a; }
};
struct take_smaller {
  template <class T> constexpr T operator()(T a, T b) const { return b != b ? b : a > b ? b : a; }
};
struct sloped {
  template <class T> constexpr T operator()(T a, T b) const { return a < 0.0f ? a * b : a; }
};

}  // namespace dice::kernels::detail
