// Lower bounds for mappings that share the work of layers.
#pragma once

#include "dice/cost/problem.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>

namespace dice::partition::detail {

/// A lower bound of the time in which devices can do the rest of the work together: for any weights of the devices whose sum
/// is 1, the longest time that any of them takes is at least the weighted mean of their times (Lagrangian relaxation).
struct work_bound {
  meta::array<double> weights;  ///< by device
  meta::array<double> rest;     ///< s, by cut unit, for it and all later ones; 0 after the last

  /// For all cut units.
  constexpr double whole() const { return rest[0]; }
};

/// The highest bound found in `rounds` rounds. `least(k, weights, busy)` returns the least weighted time of cut unit k, and
/// adds the time of each device to `busy`.
template <class Least> constexpr work_bound bound_of(int cut_units, int devices, int rounds, const Least& least) {
  work_bound best;
  meta::array<double> weights(devices, 1.0 / devices), busy(devices), rest(cut_units + 1);
  for (int round = 0; round < rounds; ++round) {
    for (auto& t : busy) t = 0;
    for (int k = cut_units - 1; k >= 0; --k) rest[k] = rest[k + 1] + least(k, weights.data(), busy.data());
    if (best.rest.empty() || rest[0] > best.rest[0]) {
      best.weights = weights;
      best.rest = rest;
    }
    // Devices that have more than their part become more expensive.
    double mean = 0, sum = 0;
    for (int d = 0; d < devices; ++d) mean += weights[d] * busy[d];
    if (mean <= 0) break;
    for (int d = 0; d < devices; ++d) {
      const double step = 1.0 / (round + 2), over = busy[d] / mean - 1;
      weights[d] *= 1 + step * std::clamp(over, -0.9, 3.0);
      sum += weights[d];
    }
    for (auto& w : weights) w /= sum;
  }
  return best;
}

/// The bound for all mappings: each cut unit on the device on which it costs least, or in parts of any size.
constexpr work_bound bound_of(const problem& p, int rounds) {
  return bound_of(p.cut_units, p.devices.size(), rounds, [&](int k, const double* weights, double* busy) {
    double least = infinity;
    int on = 0;
    for (int d = 0; d < p.devices.size(); ++d)
      if (const double t = weights[d] * p.time(d, k, k + 1); t < least) {
        least = t;
        on = d;
      }
    busy[on] += p.time(on, k, k + 1);
    return least;
  });
}
/// The bound for all mappings in arrangements of a catalogue: of a cost::arranged_network.
template <class Network>
requires requires(const Network& net) { net.devices(); }
constexpr work_bound bound_of(const Network& net, int rounds) {
  const auto& p = net.devices();
  return bound_of(p.cut_units, p.devices.size(), rounds, [&](int k, const double* weights, double* busy) {
    double least = infinity;
    int best = -1;
    const auto time = [&](int a, int i) {
      return net[a].has_replicas() ? net[a].share(i) * net.seconds(a, k, i) : net.seconds(a, k, i);
    };
    for (int a = 0; a < net.size(); ++a) {
      if (!net.possible(a, k)) continue;
      double sum = 0;
      for (int i = 0; i < net[a].devices.size(); ++i) sum += weights[net[a].devices[i]] * time(a, i);
      if (sum < least) {
        least = sum;
        best = a;
      }
    }
    for (int i = 0; best >= 0 && i < net[best].devices.size(); ++i) busy[net[best].devices[i]] += time(best, i);
    return best >= 0 ? least : 0;
  });
}

}  // namespace dice::partition::detail
