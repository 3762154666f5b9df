#pragma once

#include <cstdint>
#include <limits>

namespace dice {

namespace platform {

/// The value of a literal whose bytes 64 bits cannot hold. No limit and no memory may be so large.
inline constexpr std::int64_t too_many_bytes = std::numeric_limits<std::int64_t>::max();

namespace detail {
consteval std::int64_t bytes(unsigned long long n, int shift) {
  return n > static_cast<unsigned long long>(too_many_bytes >> shift) ? too_many_bytes
                                                                      : static_cast<std::int64_t>(n) << shift;
}
}  // namespace detail

}  // namespace platform

inline namespace literals {

/// n · 2^10 bytes; too_many_bytes if they are.
consteval std::int64_t operator""_KiB(unsigned long long n) { return platform::detail::bytes(n, 10); }
/// n · 2^20 bytes; too_many_bytes if they are.
consteval std::int64_t operator""_MiB(unsigned long long n) { return platform::detail::bytes(n, 20); }
/// n · 2^30 bytes; too_many_bytes if they are.
consteval std::int64_t operator""_GiB(unsigned long long n) { return platform::detail::bytes(n, 30); }

}  // namespace literals
}  // namespace dice
