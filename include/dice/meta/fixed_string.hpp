#pragma once

#include <cstddef>
#include <string_view>

namespace dice::meta {

/// A string literal as a template argument: `template <fixed_string Name> struct host;`, `host<"pi-a">`.
template <std::size_t Size> struct fixed_string {
  char text[Size]{};  ///< including the terminating zero

  constexpr fixed_string(const char (&from)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
  }
  constexpr std::string_view view() const { return {text, Size - 1}; }
};

}  // namespace dice::meta
