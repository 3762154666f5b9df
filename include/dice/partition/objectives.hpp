// Objectives and limits of best_mapping, as users write them, and as values of partition::goal.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/platform/rate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice {

/// Objectives of best_mapping: most frames per second, least latency of a frame with no other in flight, least energy per
/// frame, least memory on the device that needs most. The first three are Eq. (3), (5) and (4) of Velasco-Montero et al.
/// (2023); AutoDiCE (Guo et al. 2023, Section IV-A) has the first, the last, and the energy of the device that uses most.
struct throughput final {};
struct latency final {};
struct energy final {};
struct peak_memory final {};

/// Limits of best_mapping: bytes of each device; frames per second; a time, us<…> or ms<…>.
template <std::int64_t Bytes> struct memory_limit final {};
template <platform::rate Value> struct at_least_fps final {};
template <class Time> struct at_most_latency final {};

/// For best_mapping: devices compute in the order of the cluster's hosts; some may be skipped. Without this, every order is
/// tried.
struct in_order final {};
/// For best_mapping: also try mappings of up to four stages in which a device computes more than one.
struct repeats final {};

namespace partition {

/// Objective and limits as values.
struct request {
  goal aim{};
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of each device
  double fps = 0;                                                  ///< 1 / aim.max_period; 0: no limit
  bool wrong = false, positive = true;                             ///< some type is unknown; all limits are above 0
};

template <class T> struct seconds_of { static constexpr double value = 0; };
template <platform::rate V> struct seconds_of<us<V>> { static constexpr double value = V.value * 1e-6; };
template <platform::rate V> struct seconds_of<ms<V>> { static constexpr double value = V.value * 1e-3; };

namespace detail {

template <class T> constexpr void take(request& r, T) { r.wrong = true; }
constexpr void take(request& r, throughput) { r.aim.best = objective::throughput; }
constexpr void take(request& r, latency) { r.aim.best = objective::latency; }
constexpr void take(request& r, energy) { r.aim.best = objective::energy; }
constexpr void take(request& r, peak_memory) { r.aim.best = objective::peak_memory; }
constexpr void take(request& r, in_order) { r.aim.in_order = true; }
constexpr void take(request& r, repeats) { r.aim.repeats = true; }
template <std::int64_t B> constexpr void take(request& r, memory_limit<B>) {
  r.memory = std::min(r.memory, B), r.positive = r.positive && B > 0;
}
template <platform::rate V> constexpr void take(request& r, at_least_fps<V>) {
  r.positive = r.positive && V.value > 0;
  if (V.value > r.fps) r.fps = V.value, r.aim.max_period = 1 / V.value;
}
template <class T> constexpr void take(request& r, at_most_latency<T>) {
  r.positive = r.positive && seconds_of<T>::value > 0;
  r.aim.max_latency = std::min(r.aim.max_latency, seconds_of<T>::value);
}

}  // namespace detail

/// The request that these objectives and limits describe.
template <class... T> consteval request request_of() {
  request r;
  (detail::take(r, T{}), ...);
  return r;
}

}  // namespace partition
}  // namespace dice
