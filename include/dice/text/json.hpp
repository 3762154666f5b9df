#pragma once

#include "dice/text/foreign.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace dice::text {

/// `text` as a JSON string, quotes included; UTF-8 passes through, but control characters become \u001b or the like. What is
/// not UTF-8 becomes U+FFFD.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = detail::character_at(text, at);
    const auto part = text.substr(at, size);
    at += size;
    if (detail::is_control(code)) {  // none is beyond U+FFFF
      char number[12];
      std::snprintf(number, sizeof number, "\\u%04x", code < 0 ? 0xfffdu : static_cast<unsigned>(code));
      out += number;
    } else {
      if (part == "\"" || part == "\\") out += '\\';
      out += part;
    }
  }
  return out + "\"";
}

/// A number with 6 significant digits; null if it is not finite, which JSON cannot express.
inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Text that is JSON already.
struct json_text {
  std::string value;
  const std::string& json() const { return value; }
};

/// A value as JSON: numbers, strings, and what has json().
template <class T> std::string json_value(const T& value) {
  if constexpr (requires { value.json(); }) return value.json();
  else if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_floating_point_v<T>) return json_number(value);
  else return json_string(value);
}

/// A JSON object; its members keep their order.
class json_object {
 public:
  template <class T> json_object& add(std::string_view key, const T& value) {
    members_ += (members_.empty() ? "" : ", ") + json_string(key) + ": " + json_value(value);
    return *this;
  }
  std::string json() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// A JSON array; objects get a line each.
class json_array {
 public:
  json_array() = default;
  template <class Range> explicit json_array(const Range& values) {
    for (const auto& v : values) add(v);
  }
  template <class T> json_array& add(const T& value) {
    constexpr bool line = std::is_same_v<T, json_object>;
    elements_ += (elements_.empty() ? "" : line ? "," : ", ") + std::string(line ? "\n " : "") + json_value(value);
    return *this;
  }
  bool empty() const { return elements_.empty(); }
  std::string json() const { return "[" + elements_ + "]"; }

 private:
  std::string elements_;
};

}  // namespace dice::text
