#pragma once

#include <cstdint>

namespace dice {
inline namespace literals {

/// Sizes in bytes: 512_MiB is 512 · 2^20.
consteval std::int64_t operator""_KiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 10; }
consteval std::int64_t operator""_MiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 20; }
consteval std::int64_t operator""_GiB(unsigned long long n) { return static_cast<std::int64_t>(n) << 30; }

}  // namespace literals
}  // namespace dice
