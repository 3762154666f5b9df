#pragma once

#include "dice/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace onnx2hpp {

/// C++ expressions that have exactly the given value.
std::string literal(std::int64_t value);
std::string literal(float value);
std::string literal(double value);
std::string literal(const dice::tensor::shape& s);
/// A string literal: printable ASCII as it is, all else in octal, no trigraphs.
std::string literal(const std::string& text);
inline std::string literal(int value) { return literal(std::int64_t{value}); }
inline std::string literal(bool value) { return value ? "true" : "false"; }
template <class T, std::size_t N> std::string literal(const std::array<T, N>& values) {
  std::string out = "{";
  for (std::size_t i = 0; i < N; ++i) out += (i ? ", " : "") + literal(values[i]);
  return out + "}";
}

/// Collects the designated initialisers of a struct; members that have their default are left out.
class initialiser {
 public:
  template <class T> void operator()(const char* member, const T& value, const T& unset) {
    if (!(value == unset)) add(member, literal(value));
  }
  /// A member with an expression of its own.
  void add(const char* member, const std::string& expression) {
    if (!text_.empty()) text_ += ", ";
    text_ += std::string(".") + member + " = " + expression;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace onnx2hpp
