// What best_mapping looks for, and what it has to keep to: the words of users, as values of partition::goal.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/platform/rate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice {

/// Objectives of best_mapping: the most frames a second, the least time of a frame that is alone, the least energy of a
/// frame, the least memory in the device that needs most.
struct throughput final {};
struct latency final {};
struct energy final {};
struct peak_memory final {};

/// Limits of best_mapping: bytes of each device; frames a second; a time, us<…> or ms<…>.
template <std::int64_t Bytes> struct memory_limit final {};
template <platform::rate Value> struct at_least_fps final {};
template <class Time> struct at_most_latency final {};

/// For best_mapping: devices compute in the order of the cluster's hosts, though some may be left out. Any order is tried
/// without this.
struct in_order final {};
/// For best_mapping: also mappings of up to four stages in which a device computes more than one.
struct repeats final {};

namespace partition {

/// Objective and limits as values.
struct wish {
  goal aim{};
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of each device
  double fps = 0;                                                  ///< that aim.most_period is for
  bool wrong = false, positive = true;                             ///< no objective or limit; a limit that is 0 or less
};

template <class T> struct seconds_of { static constexpr double value = 0; };
template <platform::rate V> struct seconds_of<us<V>> { static constexpr double value = V.value * 1e-6; };
template <platform::rate V> struct seconds_of<ms<V>> { static constexpr double value = V.value * 1e-3; };

namespace detail {

template <class T> constexpr void take(wish& w, T) { w.wrong = true; }
constexpr void take(wish& w, throughput) { w.aim.best = objective::throughput; }
constexpr void take(wish& w, latency) { w.aim.best = objective::latency; }
constexpr void take(wish& w, energy) { w.aim.best = objective::energy; }
constexpr void take(wish& w, peak_memory) { w.aim.best = objective::peak_memory; }
constexpr void take(wish& w, in_order) { w.aim.in_order = true; }
constexpr void take(wish& w, repeats) { w.aim.repeats = true; }
template <std::int64_t B> constexpr void take(wish& w, memory_limit<B>) {
  w.memory = std::min(w.memory, B), w.positive = w.positive && B > 0;
}
template <platform::rate V> constexpr void take(wish& w, at_least_fps<V>) {
  w.positive = w.positive && V.value > 0;
  if (V.value > w.fps) w.fps = V.value, w.aim.most_period = 1 / V.value;
}
template <class T> constexpr void take(wish& w, at_most_latency<T>) {
  w.positive = w.positive && seconds_of<T>::value > 0;
  w.aim.most_latency = std::min(w.aim.most_latency, seconds_of<T>::value);
}

}  // namespace detail

/// The wish that an objective and limits make.
template <class... T> consteval wish wish_of() {
  wish w;
  (detail::take(w, T{}), ...);
  return w;
}

}  // namespace partition
}  // namespace dice
