#pragma once

#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace dice::parts {

/// Divides [0, extent) into one interval for each of `shares`, in their proportion: returns where each begins, and
/// `extent`. Intervals begin at multiples of `grid` if there are enough of these for all, else at multiples of `step`,
/// which divides `grid`; none is empty. Requires ceil(extent / step) ≥ number of shares. With equal shares and a grid of 1,
/// these are the bounds W · j / M of DeepThings' tiles (Zhao et al. 2018, below Eq. (2)), to the nearest.
///
/// `like`, if not empty, holds the bounds of a tensor of extent `like.back()` from which this one is computed. Where any
/// multiple of `step` may be a bound, or those bounds lie on the grid, the intervals follow those bounds, so that ranks need
/// little of each other. Where they do not, they begin at multiples of `preferred`, a multiple of the grid that suits what
/// is computed from this tensor, if there are enough of these.
constexpr meta::array<std::int64_t> intervals(std::int64_t extent, std::int64_t step, std::int64_t grid,
                                              meta::view<int> shares, meta::view<std::int64_t> like = {},
                                              std::int64_t preferred = 1) {
  const auto count = static_cast<int>(shares.size());
  const auto units_of = [&](std::int64_t unit) { return (extent + unit - 1) / unit; };
  auto unit = units_of(grid) >= count ? grid : step;
  bool follows = like.size() == shares.size() + 1;
  for (int i = 1; follows && unit != step && i < count; ++i) follows = like[i] * extent % (unit * like[count]) == 0;
  if (!follows && preferred > unit && units_of(preferred) >= count) unit = preferred;
  const std::int64_t units = units_of(unit);
  std::int64_t sum = 0, before = 0;
  for (const int s : shares) sum += s;
  meta::array<std::int64_t> out(count + 1);
  for (int i = 1; i < count; ++i) {
    before += shares[i - 1];
    // The nearest multiple of the unit to extent · before / sum, or to the bound in `like`; the lower one if two are equally
    // near.
    const auto part = follows ? like[i] : before, whole = follows ? like[count] : sum;
    const auto nearest = (2 * extent * part + unit * whole - 1) / (2 * unit * whole);
    out[i] = unit * std::clamp<std::int64_t>(nearest, out[i - 1] / unit + 1, units - (count - i));
  }
  out[count] = extent;
  return out;
}

/// Whether intervals of these shares can begin at multiples of `unit` while no bound moves by more than a 25th of the
/// smallest interval.
constexpr bool suits(std::int64_t unit, std::int64_t extent, meta::view<int> shares) {
  std::int64_t sum = 0, before = 0, least = shares[0];
  for (const int s : shares) {
    sum += s;
    least = std::min<std::int64_t>(least, s);
  }
  for (int i = 0; i + 1 < static_cast<int>(shares.size()); ++i) {
    before += shares[i];
    const auto off = extent * before % (unit * sum);  // beyond a multiple, times sum
    if (25 * std::min(off, unit * sum - off) > extent * least) return false;
  }
  return true;
}

}  // namespace dice::parts
