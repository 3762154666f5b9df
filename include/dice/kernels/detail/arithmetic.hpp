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

}  // namespace dice::kernels::detail
