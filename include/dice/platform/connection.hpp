#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/platform/rate.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace dice {

/// Names the two hosts of a connection.
template <meta::fixed_string A, meta::fixed_string B> struct between final {};

/// Speed and latency of the network: mbit_per_s<…> or gbytes_per_s<…>, and us<…> or ms<…>. For every pair of hosts, or for
/// the pair that between<…> names; the same in both directions, which do not slow each other. In a board: between its
/// processors.
template <class... About> struct connection final {};

namespace platform {

/// A connection as a value.
struct link {
  double bytes_per_s = 0;
  double seconds = 0;        ///< added for each message
  bool within_host = false;  ///< memory that both ends share: messages take no extra time of the cores

  /// Time of `bytes` in `messages` messages, in s: the latency–bandwidth model (Hockney 1994).
  constexpr double time(std::int64_t bytes, int messages) const {
    return bytes_per_s > 0 ? messages * seconds + static_cast<double>(bytes) / bytes_per_s
                           : std::numeric_limits<double>::infinity();
  }
  friend constexpr bool operator==(const link&, const link&) = default;
};

template <meta::fixed_string A, meta::fixed_string B> inline constexpr unsigned states<between<A, B>> = 1 << 5;
template <class... About> inline constexpr unsigned states<connection<About...>> = 1 << 6;

template <class T> struct connection_traits { static constexpr bool is = false; };
template <class... About> struct connection_traits<connection<About...>> {
  static constexpr bool is = true;

 private:
  struct parts {
    link value{};
    std::string_view a, b;
    bool is_between = false, positive = true, bounded = true, wrong = false;
    template <class T> constexpr void take(T) { wrong = true; }
    template <rate V> constexpr void take(mbit_per_s<V>) { set(V.value, 1e6 / 8); }
    template <rate V> constexpr void take(gbytes_per_s<V>) { set(V.value, 1e9); }
    template <rate V> constexpr void take(us<V>) { wait(V.value * 1e-6); }
    template <rate V> constexpr void take(ms<V>) { wait(V.value * 1e-3); }
    template <meta::fixed_string A, meta::fixed_string B> constexpr void take(between<A, B>) {
      a = between_name<A>;
      b = between_name<B>;
      is_between = true;
    }
    constexpr void set(double speed, double unit) {
      value.bytes_per_s = speed * unit;
      positive = positive && speed > 0, bounded = bounded && speed < too_large_rate;
    }
    constexpr void wait(double seconds) {
      value.seconds = seconds;
      positive = positive && seconds >= 0, bounded = bounded && seconds < too_long_seconds;
    }
    template <meta::fixed_string S> static constexpr std::string_view between_name = S.view();
  };
  static constexpr parts read = [] {
    parts p;
    (p.take(About{}), ...);
    return p;
  }();

 public:
  static constexpr link value = read.value;
  static constexpr std::string_view a = read.a, b = read.b;  ///< hosts; empty: every pair
  static constexpr bool is_between = read.is_between;
  static constexpr bool positive = read.positive && value.bytes_per_s > 0;
  static constexpr bool bounded = read.bounded;
  static constexpr bool wrong = read.wrong;
  static constexpr bool twice = state_twice<About...>();
};

}  // namespace platform
}  // namespace dice
