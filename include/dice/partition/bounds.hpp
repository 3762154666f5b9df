// Lower bounds for the continuations of a partial mapping.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::partition::detail {

/// Totals of the stages of a partial mapping: sums and maxima.
struct sums {
  double period = 0, latency = 0;
  double work = 0, idle = 0;  ///< energy = work + idle · period: Σ (busy - idle) · t in J, Σ idle in W
  std::int64_t memory = 0;
};

class bounds {
 public:
  /// `again`: devices that have a stage may get another one.
  constexpr bounds(const problem& p, const goal& g, bool again) : p_(p), g_(g), rest_energy_(p.cut_units + 1) {
    for (int k = p.cut_units - 1; k >= 0; --k) {
      double energy = infinity;
      for (const auto& d : p.devices) {
        const double t = p.kinds[d.kind].seconds[k + 1] - p.kinds[d.kind].seconds[k];
        // A newly used device draws its idle power for the whole period, which is not shorter than t.
        energy = std::min(energy, (again ? d.busy_watts - d.idle_watts : d.busy_watts) * t);
      }
      rest_energy_[k] = rest_energy_[k + 1] + energy;
    }
  }

  /// Lower bound of the value of all mappings that continue s from cut unit k on.
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

  /// By cut unit: the least that the cut units before it add to energy or latency.
  constexpr meta::array<double> before(objective o) const {
    const auto& rest = o == objective::energy ? rest_energy_ : p_.rest;
    meta::array<double> out(rest.size());
    for (int k = 0; k < rest.size(); ++k) out[k] = (rest[0] - rest[k]) * (1 - 1e-9);
    return out;
  }

 private:
  const problem& p_;
  const goal& g_;
  meta::array<double> rest_energy_;  ///< J for the cut units from each one on, each on its best device
};

}  // namespace dice::partition::detail
