// Plans within the memory limits of their devices: where the fastest algorithms' weights or working memory are too large,
// others take their place.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/meta/array.hpp"
#include "dice/placement/check.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::schedule {

namespace detail {

/// Of rank `rank`'s layers, replaces those algorithms that save most bytes of weights until `bytes` are saved, or all that
/// save any; where none does, those with the most working memory, of which an arena has room for the largest. False if there
/// was none.
constexpr bool shrink(const wish& w, std::span<algorithm::choice> chosen, std::span<const algorithm::choice> smallest,
                      int rank, std::int64_t bytes) {
  bool any = false;
  while (bytes > 0) {
    std::int64_t most = 0;
    std::size_t at = 0;
    for (std::size_t l = 0; l < chosen.size(); ++l)
      if (const auto saved = chosen[l].packed_bytes - smallest[l].packed_bytes; w.owner[l] == rank && saved > most)
        most = saved, at = l;
    if (most == 0) break;
    chosen[at] = smallest[at];
    bytes -= most;
    any = true;
  }
  if (any) return true;
  std::int64_t largest = 0;
  const auto saved = [&](std::size_t l) {
    return w.owner[l] == rank ? chosen[l].scratch_bytes - smallest[l].scratch_bytes : 0;
  };
  for (std::size_t l = 0; l < chosen.size(); ++l) largest = std::max(largest, saved(l));
  for (std::size_t l = 0; l < chosen.size() && largest > 0; ++l)
    if (saved(l) > largest / 2) chosen[l] = smallest[l];
  return largest > 0;
}

}  // namespace detail

/// The plan of `w`, whose algorithms are `chosen`. While a rank exceeds its device's memory limit, as few of its layers as
/// needed get the algorithms of `smallest`, first those that save most; `chosen` becomes what the plan is for. A rank that
/// cannot be kept within its limit gets the smaller of both plans, which says what it needs.
constexpr built_plan build_within_limits(const wish& w, std::span<algorithm::choice> chosen,
                                         std::span<const algorithm::choice> smallest) {
  const auto exceeded = [&](const rank_program& r) {
    const auto limit = w.devices[static_cast<std::size_t>(r.rank)].memory_limit;
    return limit < 0 ? 0 : std::max<std::int64_t>(r.peak_bytes - limit, 0);
  };
  built_plan out = build(w);
  meta::array<std::int64_t> peaks;
  meta::array<algorithm::choice> fastest;
  for (const auto& r : out.ranks) peaks.push_back(r.peak_bytes);
  for (const auto& a : chosen) fastest.push_back(a);
  // Other algorithms change the arena, too, so what is saved shows in the next plan only.
  bool again = true;
  for (int round = 1; again; ++round) {
    again = false;
    for (const auto& r : out.ranks)
      if (const auto bytes = exceeded(r); bytes > 0)
        again |= detail::shrink(w, chosen, smallest, r.rank, round < 4 ? bytes : r.weight_bytes);
    if (again) out = build(w);
  }
  for (const auto& r : out.ranks)
    if (exceeded(r) > 0 && peaks[r.rank] < r.peak_bytes) {
      for (std::size_t l = 0; l < chosen.size(); ++l)
        if (w.owner[l] == r.rank) chosen[l] = fastest[static_cast<int>(l)];
      again = true;
    }
  if (again) out = build(w);
  return out;
}

namespace detail {

/// Writes the algorithm of each layer, of those that the backend of its rank has.
constexpr void select(const std::array<std::span<const algorithm::choice>, algorithm::backends>& from, const wish& w,
                      std::span<algorithm::choice> to) {
  for (std::size_t l = 0; l < to.size(); ++l) {
    const auto& device = w.devices[static_cast<std::size_t>(w.owner[l])];
    to[l] = from[static_cast<std::size_t>(algorithm::backend_of(device.on))][l];
  }
}

}  // namespace detail

/// The plan of `w` with algorithms of `all`, within its devices' memory limits where it can be; `all` has those of all
/// devices' backends, and the smallest ones if a device has a limit. `chosen`, the algorithms of `w`, become those of the
/// plan.
constexpr built_plan build(const wish& w, const algorithm::tables& all, std::span<algorithm::choice> chosen) {
  detail::select(all.chosen, w, chosen);
  bool limited = false;
  for (const auto& d : w.devices) limited = limited || d.memory_limit >= 0;
  if (!limited) return build(w);
  meta::array<algorithm::choice> smallest(static_cast<int>(chosen.size()));
  const std::span<algorithm::choice> written(smallest.data(), chosen.size());
  detail::select(all.smallest, w, written);
  return build_within_limits(w, chosen, written);
}

/// The first rank that needs more memory than its device may have.
constexpr placement::finding check_limits(const plan_view& p, std::span<const platform::device> devices) {
  for (const auto& r : p.ranks) {
    const auto limit = devices[static_cast<std::size_t>(r.rank)].memory_limit;
    if (limit >= 0 && r.peak_bytes > limit)
      return {.what = placement::mistake::memory_less_than_plan, .number = r.rank, .bytes = r.peak_bytes};
  }
  return {};
}

}  // namespace dice::schedule
