#pragma once

#include "dice/meta/enum_name.hpp"
#include "dice/meta/members.hpp"
#include "dice/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

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
template <class Enum>
requires std::is_enum_v<Enum> std::string literal(Enum value) {
  static_assert(dice::meta::value_count<Enum> > 0);
  return "::" + std::string(dice::meta::qualified_name(value));
}
template <class T, std::size_t N> std::string literal(const std::array<T, N>& values) {
  std::string out = "{";
  for (std::size_t i = 0; i < N; ++i) out += (i ? ", " : "") + literal(values[i]);
  return out + "}";
}

/// A struct with DICE_MEMBERS as a braced initialiser of those members that differ from their defaults or are in the list
/// `always`.
template <class T>
requires requires { T::member_names; }
std::string literal(const T& value, std::string_view always = "");

/// Collects the designated initialisers of a struct.
class initialiser {
 public:
  void add(std::string_view member, const std::string& expression) {
    if (!text_.empty()) text_ += ", ";
    text_.append(".").append(member).append(" = ").append(expression);
  }
  /// Those of `value`, as literal() chooses them.
  template <class T> void add_members(const T& value, std::string_view always) {
    dice::meta::for_each_member(value, T{}, [&](std::string_view name, const auto& member, const auto& unset) {
      if (!(member == unset) || dice::meta::has_name(always, name)) add(name, literal(member));
    });
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

template <class T>
requires requires { T::member_names; }
std::string literal(const T& value, std::string_view always) {
  initialiser out;
  out.add_members(value, always);
  return out.text();
}

}  // namespace onnx2hpp
