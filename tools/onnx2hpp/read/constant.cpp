#include "read/constant.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace onnx2hpp {

namespace {

/// IEEE 754 binary16 and bfloat16, as stored.
struct half {
  std::uint16_t bits = 0;
};
struct brain {
  std::uint16_t bits = 0;
};

float widen(half h) {
  const int sign = h.bits >> 15, exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
  float magnitude = 0;
  if (exponent == 31)
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0) magnitude = std::ldexp(static_cast<float>(fraction), -24);
  else magnitude = std::ldexp(static_cast<float>(fraction | 1024), exponent - 25);
  return sign ? -magnitude : magnitude;
}

float widen(brain b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }

/// Rounds to the nearest value with `digits` significant bits and exponents from `lowest` on, ties to even.
double round_to(double x, int digits, int lowest, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int scale = std::max(std::ilogb(x), lowest) - digits + 1;
  const double r = std::ldexp(std::nearbyint(std::ldexp(x, -scale)), scale);
  return std::abs(r) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : r;
}

half narrow_half(double x) {
  x = round_to(x, 11, -14, 65504);
  const auto sign = static_cast<unsigned>(std::signbit(x)) << 15;
  if (std::isnan(x)) return {0x7e00};
  if (std::isinf(x)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  const double a = std::abs(x);
  if (a < 0x1p-14) return {static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(a, 24)))};
  const int e = std::ilogb(a);
  return {static_cast<std::uint16_t>(sign | (static_cast<unsigned>(e + 15) << 10) |
                                     (static_cast<unsigned>(std::ldexp(a, 10 - e)) & 1023u))};
}

brain narrow_brain(double x) {
  if (std::isnan(x)) return {0x7fc0};
  const auto f = static_cast<float>(round_to(x, 8, -126, 0x1.fep127));
  return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(f) >> 16)};
}

template <class Visitor> auto visit(element type, Visitor visitor) {
  switch (type) {
    case element::float32:
      return visitor(float{});
    case element::float64:
      return visitor(double{});
    case element::float16:
      return visitor(half{});
    case element::bfloat16:
      return visitor(brain{});
    case element::int8:
    case element::int4:
    case element::int2:
      return visitor(std::int8_t{});
    case element::int16:
      return visitor(std::int16_t{});
    case element::int32:
      return visitor(std::int32_t{});
    case element::int64:
      return visitor(std::int64_t{});
    case element::uint8:
      return visitor(std::uint8_t{});
    case element::uint16:
      return visitor(std::uint16_t{});
    case element::uint32:
      return visitor(std::uint32_t{});
    case element::uint64:
      return visitor(std::uint64_t{});
    case element::boolean:
      return visitor(bool{});
    default:
      return visitor(std::uint8_t{});
  }
}

template <class T> double as_real(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, brain>) return widen(value);
  else return static_cast<double>(value);
}

std::int64_t truncated(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

/// Rounded towards 0, and to the nearest that T holds, as activations are where they leave a network.
template <class T> T nearest(double x) {
  using limits = std::numeric_limits<T>;
  if (x >= static_cast<double>(limits::max())) return limits::max();
  if (x <= static_cast<double>(limits::min())) return limits::min();
  return std::isnan(x) ? T{0} : static_cast<T>(x);
}

template <class T> std::int64_t as_integer(T value) {
  if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(value);
  else return truncated(as_real(value));
}

template <class T, class From> T converted(From value) {
  if constexpr (std::is_same_v<T, half>) return narrow_half(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, brain>) return narrow_brain(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_same_v<T, float> && std::is_same_v<From, double>)
    // Converting a value out of range would be undefined.
    return std::abs(value) > std::numeric_limits<float>::max()
               ? static_cast<float>(round_to(value, 24, -126, std::numeric_limits<float>::max()))
               : static_cast<float>(value);
  else if constexpr (std::is_integral_v<T> && !std::is_integral_v<From>) return nearest<T>(value);
  else return static_cast<T>(value);
}

/// Element i; mapped files need not be aligned.
template <class T> T load(const std::byte* at, std::size_t i) {
  T value;
  if constexpr (std::is_same_v<T, bool>) value = at[i] != std::byte{0};
  else std::memcpy(&value, at + i * sizeof(T), sizeof(T));
  return value;
}

template <class From> constant make(element type, std::vector<std::int64_t> dims, std::span<const From> values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  visit(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = converted<T>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return make_constant(type, std::move(dims), std::move(bytes));
}

}  // namespace

std::size_t size_of(element type) {
  switch (type) {
    case element::int8:
    case element::uint8:
    case element::boolean:
    case element::int4:
    case element::uint4:
    case element::int2:
    case element::uint2:
      return 1;
    case element::int16:
    case element::uint16:
    case element::float16:
    case element::bfloat16:
      return 2;
    case element::float32:
    case element::int32:
    case element::uint32:
      return 4;
    case element::float64:
    case element::int64:
    case element::uint64:
      return 8;
    default:
      return 0;
  }
}

int packed_bits(element type) {
  return type == element::int4 || type == element::uint4 ? 4 : type == element::int2 || type == element::uint2 ? 2 : 0;
}

bool is_real(element type) {
  return type == element::float32 || type == element::float64 || type == element::float16 || type == element::bfloat16;
}

bool is_half(element type) { return type == element::float16 || type == element::bfloat16; }

std::string name_of(element type) {
  static constexpr const char* names[] = {
      "UNDEFINED",  "FLOAT",        "UINT8",          "INT8",       "UINT16",         "INT16",  "INT32",     "INT64",
      "STRING",     "BOOL",         "FLOAT16",        "DOUBLE",     "UINT32",         "UINT64", "COMPLEX64", "COMPLEX128",
      "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",  "INT4",      "FLOAT4E2M1",
      "FLOAT8E8M0", "UINT2",        "INT2",           "FLOAT6E2M3", "FLOAT6E3M2"};
  const auto code = static_cast<std::int32_t>(type);
  return code >= 0 && code < static_cast<std::int32_t>(std::size(names)) ? names[code]
                                                                         : "UNKNOWN (" + std::to_string(code) + ")";
}

std::int64_t element_count(std::span<const std::int64_t> dims) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  std::int64_t n = 1;
  bool none = false;
  for (auto d : dims) {
    if (d < 0) return -1;
    if (d == 0) none = true;
    else if (d > limit / n) return -1;
    else n *= d;
  }
  return none ? 0 : n;
}

std::vector<double> reals(const constant& c) {
  std::vector<double> out(static_cast<std::size_t>(c.elements()));
  visit(c.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = as_real(load<T>(c.bytes.data(), i));
  });
  return out;
}

std::vector<std::int64_t> integers(const constant& c) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(c.elements()));
  visit(c.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = as_integer(load<T>(c.bytes.data(), i));
  });
  return out;
}

void to_float32(const constant& c, std::int64_t first, std::span<float> out) {
  const std::byte* at = c.bytes.data() + static_cast<std::size_t>(first) * size_of(c.type);
  visit(c.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) out[i] = load<float>(at, i);
      else out[i] = converted<float>(as_real(load<T>(at, i)));
    }
  });
}

constant widened(const constant& c) {
  if (!is_half(c.type)) return c;
  const auto numbers = std::make_shared<std::vector<float>>(static_cast<std::size_t>(c.elements()));
  to_float32(c, 0, *numbers);
  return {element::float32, c.dims, std::as_bytes(std::span(*numbers)), numbers};
}

constant make_constant(element type, std::vector<std::int64_t> dims, std::span<const double> values) {
  return make(type, std::move(dims), values);
}

constant make_constant(element type, std::vector<std::int64_t> dims, std::span<const std::int64_t> values) {
  return make(type, std::move(dims), values);
}

constant make_constant(element type, std::vector<std::int64_t> dims, std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {type, std::move(dims), *owner, owner};
}

constant unpacked(element type, std::vector<std::int64_t> dims, std::span<const std::byte> packed) {
  const auto width = static_cast<std::size_t>(packed_bits(type)), each = 8 / width;
  const unsigned all = (1u << width) - 1, sign = type == element::int4 || type == element::int2 ? 1u << (width - 1) : 0;
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned bits = std::to_integer<unsigned>(packed[i / each]) >> i % each * width & all;
    bytes[i] = static_cast<std::byte>((bits ^ sign) - sign);
  }
  return make_constant(type, std::move(dims), std::move(bytes));
}

}  // namespace onnx2hpp
