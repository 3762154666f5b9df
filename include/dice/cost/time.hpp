// How long a layer takes on a processor, from stated rates.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/platform/board.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::cost {

/// Bytes that layer `l` reads and writes for one frame if nothing stays in caches: operands, weights and output. Views and
/// graph inputs and outputs move none; neither does a Concat whose operands are computed in place.
constexpr std::int64_t moved_bytes(const graph::network_view& net, int l) {
  const auto& layer = net.layers[l];
  if (layer.is_input || layer.is_output || layer.view >= 0) return 0;
  std::int64_t in = 0;
  bool joins = layer.edges > 0;
  for (const auto& e : net.into(l)) {
    in += net.layers[e.from].output.bytes();
    joins = joins && e.joins >= 0;
  }
  return joins ? 0 : in + layer.parameter_bytes + layer.output.bytes();
}

/// Time of layer `l` on processor `on`, in s: the roofline, the longer of computing and moving (Williams, Waterman,
/// Patterson 2009: attainable = min(peak, bandwidth · intensity), with 2 operations for each multiply-accumulate). AutoDiCE
/// (Guo et al. 2023, Section IV-A 1) estimates from multiply-accumulates alone; layers without any take time, too.
constexpr double roofline_seconds(const graph::network_view& net, int l, const platform::processor_info& on) {
  const auto macs = net.layers[l].macs;
  return std::max(2 * static_cast<double>(macs) / on.flops, static_cast<double>(moved_bytes(net, l)) / on.bytes_per_s);
}

}  // namespace dice::cost
