// What no continuation of a partial mapping can be better than.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::partition::detail {

/// What the stages of a partial mapping come to: sums, and what is largest.
struct sums {
  double period = 0, latency = 0;
  double work = 0, idle = 0;  ///< energy = work + idle · period: Σ (busy - idle) · t in J, Σ idle in W
  std::int64_t memory = 0;
};

class bounds {
 public:
  /// `again`: devices that have a stage may get another one.
  constexpr bounds(const problem& p, const goal& g, bool again) : p_(p), g_(g), rest_energy_(p.pieces + 1) {
    for (int k = p.pieces - 1; k >= 0; --k) {
      double energy = infinity;
      for (const auto& d : p.devices) {
        const double t = p.kinds[d.kind].seconds[k + 1] - p.kinds[d.kind].seconds[k];
        // A device that comes in takes its idle power for the whole period, which is no shorter than t.
        energy = std::min(energy, (again ? d.busy_watts - d.idle_watts : d.busy_watts) * t);
      }
      rest_energy_[k] = rest_energy_[k + 1] + energy;
    }
  }

  /// No mapping that continues s from piece k on has a smaller value.
  constexpr double least(const sums& s, int k) const {
    switch (g_.best) {
      case objective::throughput:
        return s.period;
      case objective::latency:
        return s.latency + p_.rest[k];
      case objective::energy:
        return s.work + s.idle * s.period + rest_energy_[k];
      default:
        return static_cast<double>(s.memory);
    }
  }

  /// By piece: what those before it add to energy, or to latency, at least.
  constexpr meta::array<double> before(objective o) const {
    const auto& rest = o == objective::energy ? rest_energy_ : p_.rest;
    meta::array<double> out(rest.size());
    for (int k = 0; k < rest.size(); ++k) out[k] = (rest[0] - rest[k]) * (1 - 1e-9);
    return out;
  }

 private:
  const problem& p_;
  const goal& g_;
  meta::array<double> rest_energy_;  ///< from each piece on, each on the device best for it
};

}  // namespace dice::partition::detail
