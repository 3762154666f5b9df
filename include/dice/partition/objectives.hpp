// Objectives and limits of best_mapping, as users write them, and as values of partition::goal.
#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/partition/goal.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/types.hpp"
#include "dice/placement/words.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/rate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

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
/// For best_mapping: the ranks with the network's inputs (outputs) are on this host.
template <meta::fixed_string Host> struct input_at final {};
template <meta::fixed_string Host> struct output_at final {};
/// For best_mapping: the fewest devices with which the objective is at most this many percent worse than the best, 0 … 100.
template <platform::rate Percent> struct fewest_devices final {};
/// For best_mapping: stages of whole layers only. Without it, layers are also split, and computed by replicas, where that
/// pays.
struct whole_layers final {};
/// For best_mapping: layers may be split in these ways only: rows, columns, grid, output_channels, input_channels, replicas.
template <template <class...> class... Kind> struct kinds final {};
/// tiles<N, M, …> of any N and M, in kinds<…>.
template <class...> struct grid;
/// For best_mapping: these layers are computed whole. Layers, range, from, to and all, as in layers<…>.
template <class... Layer> struct no_split_of final {};

namespace partition {

/// Objective and limits as values.
struct request {
  goal aim{};
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of each device
  double fps = 0;                                                  ///< 1 / aim.max_period; 0: no limit
  double percent = -1;   ///< of fewest_devices; below 0: the number of devices does not matter
  unsigned words = ~0u;  ///< of placement::work_words that may be used, as bits
  bool whole = false;    ///< whole layers only
};

/// Whether a mapping with prediction `of` is at most as much worse than the best one as fewest_devices allows.
constexpr bool good_enough(const request& r, const prediction& of, const prediction& best) {
  constexpr double rounding = 1e-9;
  const double part = r.percent / 100, value = value_of(r.aim.best, of), least = value_of(r.aim.best, best);
  // The value of throughput is the period.
  return r.aim.best == objective::throughput ? value * (1 - part) <= least * (1 + rounding)
                                             : value <= least * (1 + part) * (1 + rounding);
}

/// What a type in a request to best_mapping is.
enum class constraint : unsigned char {
  none,
  objective,
  memory,
  fps,
  latency,
  in_order,
  repeats,
  input,
  output,
  devices,
  whole,
  kinds,
  layers
};

/// Kinds of splits, as requests name them: the words of the mapping language, but for tiles.
inline constexpr std::array<std::string_view, 6> kind_words{"rows",           "columns", "grid", "output_channels",
                                                            "input_channels", "replicas"};
constexpr unsigned bit_of_kind(std::string_view kind) {
  return 1u << placement::word_number(kind == "grid" ? std::string_view("tiles") : kind);
}

template <class T> struct seconds_of { static constexpr double value = 0; };
template <platform::rate V> struct seconds_of<us<V>> { static constexpr double value = V.value * 1e-6; };
template <platform::rate V> struct seconds_of<ms<V>> { static constexpr double value = V.value * 1e-3; };

namespace detail {

using host_list = std::span<const platform::host_info>;

/// Index of the host called `name`, or -1.
constexpr int host_named(host_list hosts, std::string_view name) {
  for (std::size_t h = 0; h < hosts.size(); ++h)
    if (hosts[h].name == name) return static_cast<int>(h);
  return -1;
}

/// Writes a constraint into a request. `right`: its number is possible, its host one of the cluster's.
struct taken {
  constraint what = constraint::none;
  bool right = true;
};
template <class T> constexpr taken take(request&, host_list, T) { return {}; }
constexpr taken aim(request& r, objective at) { return r.aim.best = at, taken{constraint::objective}; }
constexpr taken take(request& r, host_list, throughput) { return aim(r, objective::throughput); }
constexpr taken take(request& r, host_list, latency) { return aim(r, objective::latency); }
constexpr taken take(request& r, host_list, energy) { return aim(r, objective::energy); }
constexpr taken take(request& r, host_list, peak_memory) { return aim(r, objective::peak_memory); }
constexpr taken take(request& r, host_list, in_order) { return r.aim.in_order = true, taken{constraint::in_order}; }
constexpr taken take(request& r, host_list, repeats) { return r.aim.repeats = true, taken{constraint::repeats}; }
template <std::int64_t B> constexpr taken take(request& r, host_list, memory_limit<B>) {
  return r.memory = B, taken{constraint::memory, B > 0 && B < platform::too_many_bytes};
}
template <platform::rate V> constexpr taken take(request& r, host_list, at_least_fps<V>) {
  if (V.value > 0) {
    r.fps = V.value;
    r.aim.max_period = 1 / V.value;
  }
  return {constraint::fps, V.value > 0};
}
template <class T> constexpr taken take(request& r, host_list, at_most_latency<T>) {
  return r.aim.max_latency = seconds_of<T>::value, taken{constraint::latency, seconds_of<T>::value > 0};
}
template <meta::fixed_string Host> constexpr taken take(request& r, host_list hosts, input_at<Host>) {
  return r.aim.input_at = host_named(hosts, Host.view()), taken{constraint::input, r.aim.input_at >= 0};
}
template <meta::fixed_string Host> constexpr taken take(request& r, host_list hosts, output_at<Host>) {
  return r.aim.output_at = host_named(hosts, Host.view()), taken{constraint::output, r.aim.output_at >= 0};
}
template <platform::rate V> constexpr taken take(request& r, host_list, fewest_devices<V>) {
  return r.percent = V.value, taken{constraint::devices, V.value >= 0 && V.value <= 100};
}

constexpr taken take(request& r, host_list, whole_layers) { return r.whole = true, taken{constraint::whole}; }
/// A kind of split as a bit; 0 if it is not one.
template <template <class...> class Kind>
inline constexpr unsigned kind_bit = placement::detail::word_of<Kind> > 0 ? 1u << placement::detail::word_of<Kind> : 0;
template <> inline constexpr unsigned kind_bit<grid> = bit_of_kind("grid");
template <template <class...> class... Kind> constexpr taken take(request& r, host_list, kinds<Kind...>) {
  r.words = (kind_bit<Kind> | ... | 0u);
  return {constraint::kinds, sizeof...(Kind) > 0 && (true && ... && (kind_bit<Kind> != 0))};
}
template <class... Layer> constexpr taken take(request&, host_list, no_split_of<Layer...>) {
  return {constraint::layers, sizeof...(Layer) > 0};
}

/// The request that these constraints describe on a cluster with `hosts`, and each constraint.
template <std::size_t Constraints> struct reading {
  request of{};
  std::array<taken, Constraints> constraints{};

  /// Index of the first constraint that is `what`, before `end`; -1 if there is none.
  constexpr int find(constraint what, std::size_t end = Constraints) const {
    for (std::size_t w = 0; w < end; ++w)
      if (constraints[w].what == what) return static_cast<int>(w);
    return -1;
  }
  /// Index of the first constraint that is unknown, wrong, or given before; -1 if there is none.
  constexpr int mistake() const {
    for (std::size_t w = 0; w < Constraints; ++w)
      if (constraints[w].what == constraint::none || !constraints[w].right || find(constraints[w].what, w) >= 0)
        return static_cast<int>(w);
    return -1;
  }
};
template <class... T> consteval auto read([[maybe_unused]] host_list hosts) {
  reading<sizeof...(T)> out;
  std::size_t at = 0;
  ((out.constraints[at++] = take(out.of, hosts, T{})), ...);
  return out;
}

}  // namespace detail

/// The request that these objectives, limits and constraints describe on a cluster with `hosts`.
template <class... T> consteval request request_of(std::span<const platform::host_info> hosts = {}) {
  return detail::read<T...>(hosts).of;
}

}  // namespace partition
}  // namespace dice
