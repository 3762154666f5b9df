#include "graph/initialiser.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace onnx2hpp {

std::string literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "::std::numeric_limits<::std::int64_t>::min()";
  return fmt::format("{}{}", value, std::abs(value) > std::numeric_limits<int>::max() ? "LL" : "");
}

namespace {

/// The shortest text that reads back as the same number of type T, called `type`.
template <class T> std::string real(T value, const char* type, const char* suffix) {
  if (std::isnan(value)) return fmt::format("::std::numeric_limits<{}>::quiet_NaN()", type);
  if (std::isinf(value)) return fmt::format("{}::std::numeric_limits<{}>::infinity()", value < 0 ? "-" : "", type);
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out + suffix;
}

}  // namespace

std::string literal(float value) { return real(value, "float", "f"); }
std::string literal(double value) { return real(value, "double", ""); }

std::string literal(const dice::tensor::shape& s) {
  std::string out = "{";
  for (int a = 0; a < s.rank; ++a) out += (a ? ", " : "") + literal(s[a]);
  return out + "}";
}

std::string literal(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code > 0x7e || c == '?') out += fmt::format("\\{:03o}", code);
    else out += c;
  }
  return out + "\"";
}

}  // namespace onnx2hpp
