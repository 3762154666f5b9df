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

/// Speeds and powers, in their units, and times are refused from these values on: no machine has them.
inline constexpr double too_large_rate = 1e15, too_long_seconds = 1e6;

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

namespace platform {

/// The property that a part of a processor, board or connection states, as a bit: each may be stated once. 0: a part that
/// may be there several times.
template <class T> inline constexpr unsigned states = 0;
template <rate V> inline constexpr unsigned states<gflops<V>> = 1 << 0;
template <rate V> inline constexpr unsigned states<gbytes_per_s<V>> = 1 << 1;
template <rate V> inline constexpr unsigned states<mbit_per_s<V>> = 1 << 1;
template <rate V> inline constexpr unsigned states<us<V>> = 1 << 2;
template <rate V> inline constexpr unsigned states<ms<V>> = 1 << 2;
template <rate Busy, rate Idle> inline constexpr unsigned states<watts<Busy, Idle>> = 1 << 3;
template <std::int64_t Bytes> inline constexpr unsigned states<ram<Bytes>> = 1 << 4;

/// Whether two of these parts state the same property.
template <class... T> consteval bool state_twice() {
  unsigned seen = 0, twice = 0;
  for (const unsigned what : {0u, states<T>...}) {
    twice |= seen & what;
    seen |= what;
  }
  return twice != 0;
}

}  // namespace platform

}  // namespace dice
