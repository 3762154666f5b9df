// What to optimise in a mapping, and its limits.
#pragma once

#include "dice/partition/problem.hpp"

#include <limits>

namespace dice::partition {

enum class objective : unsigned char { throughput, latency, energy, peak_memory };

/// Receives progress reports: the part of a search that is done, 0 … 1; and may stop a search for mixes.
struct watch {
  void (*tell)(void* with, double part) = nullptr;
  void* with = nullptr;
  bool (*stops)(void* with) = nullptr;  ///< may be null
};

/// What to optimise in a mapping, and its limits, except memory limits, which belong to devices.
struct goal {
  objective best = objective::throughput;
  double max_period = infinity, max_latency = infinity;  ///< s
  bool in_order = false;                                 ///< devices in the order of the cluster
  bool repeats = false;                                  ///< a device may compute two of up to 4 stages
  int input_at = -1, output_at = -1;                     ///< hosts of the network's inputs and outputs; -1: any
  int max_devices = std::numeric_limits<int>::max();
  const watch* seen_by = nullptr;  ///< may be null, and is at compile time
};

constexpr double value_of(objective o, const prediction& p) {
  switch (o) {
    case objective::throughput:
      return p.period;
    case objective::latency:
      return p.latency;
    case objective::energy:
      return p.energy;
    default:
      return static_cast<double>(p.memory);
  }
}
constexpr bool keeps(const prediction& p, const goal& g) { return p.period <= g.max_period && p.latency <= g.max_latency; }

namespace detail {

/// Reports one search's progress to the watch of a series of searches, as the part from `from` to `until` of the series.
struct progress {
  const watch* to = nullptr;
  double from = 0, until = 1;

  constexpr void operator()(double part) const {
    if (to) to->tell(to->with, at(part));
  }
  constexpr bool stopped() const { return to && to->stops && to->stops(to->with); }
  /// The progress of a phase: the part from `first` to `last` of this one.
  constexpr progress phase(double first, double last) const { return {to, at(first), at(last)}; }
  constexpr double at(double part) const { return from + part * (until - from); }
};

}  // namespace detail

}  // namespace dice::partition
