// What a mapping should be best in, and what it has to keep to.
#pragma once

#include "dice/partition/problem.hpp"

namespace dice::partition {

enum class objective : unsigned char { throughput, latency, energy, peak_memory };

/// Is told now and then which part of a search is done, 0 … 1.
struct watch {
  void (*tell)(void* with, double part) = nullptr;
  void* with = nullptr;
};

/// What a mapping should be best in, and what it has to keep to; memory limits are the devices'.
struct goal {
  objective best = objective::throughput;
  double most_period = infinity, most_latency = infinity;  ///< s
  bool in_order = false;                                   ///< devices in the order of the cluster
  bool repeats = false;                                    ///< a device may compute two of up to 4 stages
  const watch* seen_by = nullptr;                          ///< may be null, and is at compile time
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
constexpr bool keeps(const prediction& p, const goal& g) { return p.period <= g.most_period && p.latency <= g.most_latency; }

namespace detail {

/// Tells a watch of one of the searches that make up a whole one, which is the part from `from` to `until` of it.
struct progress {
  const watch* to = nullptr;
  double from = 0, until = 1;

  constexpr void operator()(double part) const {
    if (to) to->tell(to->with, at(part));
  }
  /// That of a phase from one part to another.
  constexpr progress phase(double first, double last) const { return {to, at(first), at(last)}; }
  constexpr double at(double part) const { return from + part * (until - from); }
};

}  // namespace detail

}  // namespace dice::partition
