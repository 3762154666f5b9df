#pragma once

#include <cstdint>

namespace dice {
inline namespace literals {

/// n · 2^10 bytes.
consteval std::int64_t operator""_KiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 10; }
/// n · 2^20 bytes.
consteval std::int64_t operator""_MiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 20; }
/// n · 2^30 bytes.
consteval std::int64_t operator""_GiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 30; }

}  // namespace literals
}  // namespace dice
