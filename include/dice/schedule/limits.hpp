// Plans within the memory limits of their devices: if the fastest algorithms need too much memory for weights or work,
// smaller ones replace them.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/placement/check.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::schedule {

namespace detail {

/// Replaces algorithms of rank `rank`, those that save the most weight bytes first, until `bytes` are saved or none saves
/// any. If none saves weights, replaces those with the most working memory, since the arena has room for the largest.
/// Returns false if it replaced none.
constexpr bool shrink(const plan_input& in, std::span<algorithm::choice> chosen, meta::view<algorithm::choice> smallest,
                      int rank, std::int64_t bytes) {
  bool any = false;
  while (bytes > 0) {
    std::int64_t most = 0;
    std::size_t at = 0;
    for (std::size_t l = 0; l < chosen.size(); ++l)
      if (const auto saved = chosen[l].packed_bytes - smallest[l].packed_bytes; in.owner[l] == rank && saved > most) {
        most = saved;
        at = l;
      }
    if (most == 0) break;
    chosen[at] = smallest[at];
    bytes -= most;
    any = true;
  }
  if (any) return true;
  std::int64_t largest = 0;
  const auto saved = [&](std::size_t l) {
    return in.owner[l] == rank ? chosen[l].scratch_bytes - smallest[l].scratch_bytes : 0;
  };
  for (std::size_t l = 0; l < chosen.size(); ++l) largest = std::max(largest, saved(l));
  for (std::size_t l = 0; l < chosen.size() && largest > 0; ++l)
    if (saved(l) > largest / 2) chosen[l] = smallest[l];
  return largest > 0;
}

}  // namespace detail

/// The plan of `in`, whose algorithms are `chosen`. While a rank exceeds its device's memory limit, as few of its layers as
/// needed get the algorithms of `smallest`, first those that save the most; `chosen` is updated to the plan's algorithms. A
/// rank that still exceeds its limit gets the smaller of the two plans, which shows how much it needs.
constexpr built_plan build_within_limits(const plan_input& in, std::span<algorithm::choice> chosen,
                                         meta::view<algorithm::choice> smallest) {
  const auto exceeded = [&](const rank_program& r) {
    const auto limit = in.devices[r.rank].memory_limit;
    return limit < 0 ? 0 : std::max<std::int64_t>(r.peak_bytes - limit, 0);
  };
  built_plan out = build(in);
  meta::array<std::int64_t> peaks;
  meta::array<algorithm::choice> fastest;
  for (const auto& r : out.ranks) peaks.push_back(r.peak_bytes);
  for (const auto& a : chosen) fastest.push_back(a);
  // Other algorithms also change the arena, so only the next plan shows what was saved.
  bool again = true;
  for (int round = 1; again; ++round) {
    again = false;
    for (const auto& r : out.ranks)
      if (const auto bytes = exceeded(r); bytes > 0)
        again |= detail::shrink(in, chosen, smallest, r.rank, round < 4 ? bytes : r.weight_bytes);
    if (again) out = build(in);
  }
  for (const auto& r : out.ranks)
    if (exceeded(r) > 0 && peaks[r.rank] < r.peak_bytes) {
      for (std::size_t l = 0; l < chosen.size(); ++l)
        if (in.owner[l] == r.rank) chosen[l] = fastest[static_cast<int>(l)];
      again = true;
    }
  if (again) out = build(in);
  return out;
}

namespace detail {

/// Writes the algorithm of each layer, taken from those of its rank's unit, or from the smallest, which are direct.
constexpr void select(const algorithm::tables& all, bool smallest, const plan_input& in, std::span<algorithm::choice> to) {
  for (std::size_t l = 0; l < to.size(); ++l) {
    const auto& unit = in.devices[in.owner[l]].unit;
    const auto& from = smallest ? all.smallest : unit.direct ? all.direct : all.chosen;
    to[l] = from[algorithm::method_of(unit)][l];
  }
}

}  // namespace detail

/// The plan of `in` with algorithms of `all`, within its devices' memory limits if possible. `all` must cover the backends
/// of all devices, with the smallest algorithms if a device has a limit, and the direct ones if one has direct_convolutions.
/// `chosen`, which `in` refers to, becomes the plan's algorithms.
constexpr built_plan build(const plan_input& in, const algorithm::tables& all, std::span<algorithm::choice> chosen) {
  detail::select(all, false, in, chosen);
  bool limited = false;
  for (const auto& d : in.devices) limited = limited || d.memory_limit >= 0;
  if (!limited) return build(in);
  meta::array<algorithm::choice> smallest(static_cast<int>(chosen.size()));
  const std::span<algorithm::choice> written(smallest.data(), chosen.size());
  detail::select(all, true, in, written);
  return build_within_limits(in, chosen, written);
}

/// The first rank that needs more memory than its device's limit.
constexpr placement::finding check_limits(const plan_view& p, meta::view<platform::device> devices) {
  for (const auto& r : p.ranks) {
    const auto limit = devices[r.rank].memory_limit;
    if (limit >= 0 && r.peak_bytes > limit)
      return {.what = placement::mistake::memory_limit_less_than_plan, .number = r.rank, .bytes = r.peak_bytes};
  }
  return {};
}

}  // namespace dice::schedule
