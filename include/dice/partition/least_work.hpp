// What no mapping can save: for lower bounds that hold for all mappings.
#pragma once

#include "dice/cost/problem.hpp"
#include "dice/cost/setting.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/platform/dev.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::partition::detail {

/// Whether kernels compute all of the layer's result in every mapping, so that its parts together take at least its time. If
/// others are split, kernels may do their work with an earlier layer's (activations, sums, pools), or there may be nothing
/// left of it (Slice and Concat, where ranks exchange pieces anyway).
constexpr bool is_always_computed(const graph::layer_info& layer) { return layer.macs > 0 || layer.parameter_bytes > 0; }

/// Problem p of setting s, whose devices take no time for layers that some mapping need not compute.
constexpr cost::problem least_work_of(const cost::setting& s, cost::problem p) {
  for (auto& c : p.kinds) c.seconds = {};
  for (const auto& d : p.devices) {
    auto& seconds = p.kinds[d.kind].seconds;
    if (!seconds.empty()) continue;
    seconds = meta::array<double>(p.cut_units + 1);
    for (int l = 0; l < p.cut_unit_of.size(); ++l)
      if (is_always_computed(s.net.layers[l])) seconds[p.cut_unit_of[l] + 1] += s.seconds[d.processor][l];
    for (int k = 0; k < p.cut_units; ++k) seconds[k + 1] += seconds[k];
  }
  return p;
}

/// The bytes of all weights, each at least once on one of p's devices: as the file has them, which no kernel of a CPU makes
/// smaller; half as many if there is a GPU, which may have them in 16 bits. Forms of weights that the fastest algorithms
/// read are larger, but a rank may have others (memory<…>, direct_convolutions).
constexpr std::int64_t least_weights_of(const cost::setting& s, const cost::problem& p) {
  std::int64_t out = 0;
  for (const auto& layer : s.net.layers) out += layer.parameter_bytes;
  const bool halves = std::any_of(p.devices.begin(), p.devices.end(), [&](const cost::device& d) {
    return s.cluster.processors[static_cast<std::size_t>(d.processor)].unit.processor() == platform::processor::gpu;
  });
  return halves ? out / 2 : out;
}

}  // namespace dice::partition::detail
