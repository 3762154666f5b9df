// Limits: memory limits of the search, derived from what plans need, and which limit cannot be met.
#pragma once

#include "dice/partition/ends.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search.hpp"
#include "dice/platform/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::partition {

/// Maximum number of searches until a plan keeps within its limits; clusters whose boards are nearly full take a few.
inline constexpr int max_rounds = 12;

/// Sets the memory limits of p's devices to `most`, which is by processor.
constexpr void set_limits(problem& p, std::span<const std::int64_t> most) {
  for (auto& d : p.devices) d.memory_limit = std::min(most[d.processor], no_limit);
}

/// Memory of a rank of the mapping found: bytes that the search counts, and bytes that the plan needs.
struct rank_memory {
  int processor = 0;
  std::int64_t counted = 0, planned = 0;
};

/// Adds up what ranks need on each host, in the order of the ranks. Processors without their own memory share their board's.
class board_memory {
 public:
  constexpr explicit board_memory(const platform::cluster_view& cluster) : cluster_(cluster), on_host_(cluster.size()) {}

  /// Adds a rank on `processor` that may have `limit` bytes, and its board's. Returns by how many bytes one of them is
  /// exceeded; 0 or less: none is.
  constexpr std::int64_t add(int processor, std::int64_t bytes, std::int64_t limit) {
    const auto at = static_cast<std::size_t>(processor);
    const int host = cluster_.host_of[at];
    auto& all = on_host_[host];
    if (!cluster_.processors[at].own_memory) all += bytes;
    return std::max(bytes - limit, all - std::max(cluster_.hosts[static_cast<std::size_t>(host)].memory, limit));
  }

 private:
  const platform::cluster_view& cluster_;
  meta::array<std::int64_t> on_host_;
};

/// Tightens `counted`, the search's limits by processor, by the bytes by which the ranks' plan exceeds `limits` or the
/// memory of a board, so that this mapping is not found again. Returns false if the plan keeps within them.
constexpr bool tighten(std::span<std::int64_t> counted, std::span<const std::int64_t> limits,
                       const platform::cluster_view& cluster, const goal& g, const meta::array<rank_memory>& ranks) {
  meta::array<std::int64_t> before;
  board_memory boards(cluster);
  for (const auto bytes : counted) before.push_back(bytes);
  bool any = false;
  for (const auto& r : ranks) {
    const int processor = r.processor;
    const int at = cluster.host_of[processor];
    const auto& host = cluster.hosts[at];
    const auto excess = boards.add(processor, r.planned, limits[processor]);
    if (excess <= 0) continue;
    any = true;
    for (int h = 0; h < cluster.size(); ++h) {  // hosts of one kind are interchangeable
      const auto& other = cluster.hosts[h];
      if (h == at || (other.kind == host.kind && !detail::has_end(g, h) && !detail::has_end(g, at)))
        counted[other.first_processor + r.processor - host.first_processor] =
            std::min(before[r.processor], r.counted) - excess;
    }
  }
  return any;
}

/// Memory limit in bytes that the search needs to find any mapping, ignoring objective and other limits; 0 if it finds one
/// within the limits of p's devices, or none at all.
constexpr std::int64_t missing_memory(problem p, goal g, int most = max_routes) {
  g.best = objective::throughput;
  g.max_period = g.max_latency = infinity;
  if (!search(p, g, most).best.empty()) return 0;
  for (auto& d : p.devices) d.memory_limit = no_limit;
  g.best = objective::peak_memory;
  return search(p, g, most).best.expected.memory;
}

/// The limit that cannot be met, and the nearest one that can; or the input's or output's host, and the bytes that it needs
/// for them (0: it has no usable processor); or the constraints contradict one another.
enum class obstacle : unsigned char { memory, fps, latency, input_host, output_host, constraints };
struct nearest {
  obstacle what = obstacle::memory;
  double value = 0;  ///< bytes, frames/s or s
};

/// v rounded down or up to four significant digits, so that the number reported can be met.
constexpr double rounded(double v, bool up) {
  double unit = 1;
  while (v / unit >= 10000) unit *= 10;
  while (v / unit < 1000 && v > 0) unit /= 10;
  const auto digits = static_cast<std::int64_t>(v / unit) + (up ? 1 : 0);
  return unit >= 1 ? static_cast<double>(digits) * unit : static_cast<double>(digits) / (1 / unit);
}
/// Bytes rounded up to four significant digits in MiB.
constexpr std::int64_t rounded_bytes(std::int64_t bytes) {
  constexpr double mib = 1 << 20;
  return static_cast<std::int64_t>(rounded(static_cast<double>(bytes) / mib, true) * mib);
}

}  // namespace dice::partition
