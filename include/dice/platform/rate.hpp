// Speeds, times, sizes and powers as template arguments.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace dice {

namespace platform {

/// A number, whole or not, as a template argument: gflops<24> and gflops<24.0> are one type. (clang 14 has no parameters of
/// type double.)
struct rate {
  double value = 0;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr rate(T of) : value(static_cast<double>(of)) {}
};

}  // namespace platform

/// Peak speed of a processor in 10⁹ floating-point operations a second; a multiply-accumulate is two.
template <platform::rate Value> struct gflops final {};
/// Speed of a processor's memory, or of a connection, in 10⁹ bytes a second.
template <platform::rate Value> struct gbytes_per_s final {};
/// Speed of a connection in 10⁶ bits a second.
template <platform::rate Value> struct mbit_per_s final {};
/// Time in 10⁻⁶ s that is added for each message: the one-way latency of a connection.
template <platform::rate Value> struct us final {};
/// The same in 10⁻³ s.
template <platform::rate Value> struct ms final {};
/// Power that a processor draws while it computes, and while it waits, in W.
template <platform::rate Busy, platform::rate Idle = 0> struct watts final {};
/// Memory of a board, or of a processor that has its own, in bytes.
template <std::int64_t Bytes> struct ram final {};

}  // namespace dice
