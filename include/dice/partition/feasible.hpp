// Limits: those on what the search counts, which follow from what plans take, and the one that cannot be kept.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search.hpp"
#include "dice/platform/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dice::partition {

/// Searches at most until a plan keeps to its limits; a cluster whose boards are nearly full takes a few.
inline constexpr int most_rounds = 12;

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Sets the limits of the devices of p, by processor.
constexpr void set_limits(problem& p, std::span<const std::int64_t> most) {
  for (auto& d : p.devices) d.memory_limit = most[static_cast<std::size_t>(d.processor)];
}

/// A rank of a mapping that was found: bytes that the search counts, and that the plan takes.
struct rank_memory {
  int processor = 0;
  std::int64_t counted = 0, planned = 0;
};

/// Tightens `counted`, limits by processor on what the search counts, by what the ranks' plan exceeds `limits` or the memory
/// of a board, so that this mapping is not found again. False if the plan keeps to them.
constexpr bool tighten(std::span<std::int64_t> counted, std::span<const std::int64_t> limits,
                       const platform::cluster_view& cluster, const meta::array<rank_memory>& ranks) {
  meta::array<std::int64_t> before, on_host(cluster.size());
  for (const auto bytes : counted) before.push_back(bytes);
  bool any = false;
  for (const auto& r : ranks) {
    const auto processor = static_cast<std::size_t>(r.processor);
    const int at = cluster.host_of[processor];
    const auto& host = cluster.hosts[static_cast<std::size_t>(at)];
    // Processors without memory of their own share that of their board.
    if (!cluster.processors[processor].own_memory) on_host[at] += r.planned;
    const auto excess = std::max(r.planned - limits[processor], on_host[at] - std::max(host.memory, limits[processor]));
    if (excess <= 0) continue;
    any = true;
    for (const auto& other : cluster.hosts)  // hosts of one kind count as one another
      if (other.kind == host.kind)
        counted[static_cast<std::size_t>(other.first_processor + r.processor - host.first_processor)] =
            std::min(before[r.processor], r.counted) - excess;
  }
  return any;
}

/// Bytes that the search has to be allowed if it finds nothing within the limits of p's devices, whatever else is wished; 0
/// if it finds something.
constexpr std::int64_t missing_memory(problem p, goal g, int most = most_routes) {
  g.best = objective::throughput, g.most_period = g.most_latency = infinity;
  if (!search(p, g, most).best.empty()) return 0;
  for (auto& d : p.devices) d.memory_limit = no_limit;
  g.best = objective::peak_memory;
  return search(p, g, most).best.expected.memory;
}

/// The limit that cannot be kept, and the nearest that can.
enum class obstacle : unsigned char { memory, fps, latency };
struct nearest {
  obstacle what = obstacle::memory;
  double value = 0;  ///< bytes, frames/s or s
};

/// Four significant digits of v, downwards or upwards, so that the number that is told can be kept to.
constexpr double told(double v, bool up) {
  double unit = 1;
  while (v / unit >= 10000) unit *= 10;
  while (v / unit < 1000 && v > 0) unit /= 10;
  const auto digits = static_cast<std::int64_t>(v / unit) + (up ? 1 : 0);
  return unit >= 1 ? static_cast<double>(digits) * unit : static_cast<double>(digits) / (1 / unit);
}
/// The same of MiB, as bytes.
constexpr std::int64_t told_bytes(std::int64_t bytes) {
  constexpr double mib = 1 << 20;
  return static_cast<std::int64_t>(told(static_cast<double>(bytes) / mib, true) * mib);
}

}  // namespace dice::partition
