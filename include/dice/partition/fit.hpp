// The search at compile time, repeated until the plan of what it finds keeps within its limits.
#pragma once

#include "dice/cost/predicted.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/choice.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/schedule/static_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace dice::partition::detail {

/// Memory limit in bytes of each processor's rank, by the request or only by its `ram`.
template <class Net, class Cluster, std::int64_t Most = no_limit>
inline constexpr auto rank_limits = [] {
  constexpr const auto& view = platform::cluster_values<Cluster>::view;
  std::array<std::int64_t, view.processors.size()> out{};
  const auto all = limits_of(view, Most);
  std::copy(all.begin(), all.end(), out.begin());
  return out;
}();

/// The search with limits on what it counts.
template <class Net, class Cluster, request Request, auto Limits> struct searched {
  static constexpr auto value = choose<Net, Cluster>(Request.aim, Limits);
  static constexpr bool found = value.count > 0;
};

/// Limits of the search, tightened by the bytes by which the plan of its mapping, Found, exceeds the request's limits;
/// Limits itself if the plan exceeds none.
template <class Net, class Cluster, request Request, auto Limits, class Found> consteval auto tighter() {
  using written_as = written<Net, Cluster, Found>;
  auto out = Limits;
  meta::array<rank_memory> ranks;
  for (const auto& r : schedule::plan_of<Net, typename written_as::type>.ranks) {
    const int processor = written_as::all.processor[r.rank];
    std::size_t k = 0;
    while (Found::value.stages[k].device != processor) ++k;
    ranks.push_back({processor, Found::value.held[k], r.peak_bytes});
  }
  tighten(out, rank_limits<Net, Cluster, Request.memory>, platform::cluster_values<Cluster>::view, Request.aim, ranks);
  return out;
}

/// The figures of the plan of what was found.
template <class Net, class Cluster, class Found>
inline constexpr prediction planned_figures = predicted<Net, typename written<Net, Cluster, Found>::type, Cluster>;

constexpr bool same_limits(const request& a, const request& b) {
  return a.aim.max_period == b.aim.max_period && a.aim.max_latency == b.aim.max_latency;
}

/// A request for the mapping that is farthest within one of the limits: latency's (if `latency`) or that of frames/s.
constexpr request nearest_request(request r, bool latency) {
  r.aim.best = latency ? objective::latency : objective::throughput;
  (latency ? r.aim.max_latency : r.aim.max_period) = infinity;
  return r;
}

/// No answer.
struct none {
  static constexpr choice<1> value{};
  static constexpr bool found = false;
};

/// missing_memory under Limits: bytes that the search needs to find a mapping.
template <class Net, class Cluster, request Request, auto Limits>
inline constexpr std::int64_t missing = [] {
  problem p = problem_of(cost::setting_of<Net, Cluster>, Request.aim);
  set_limits(p, Limits);
  return missing_memory(p, Request.aim);
}();

/// The limits of Searched's goal, tightened by as much as the plan of Found exceeds those of Request; Searched itself if it
/// keeps to them.
template <class Net, class Cluster, request Request, request Searched, class Found> consteval request nearer() {
  request out = Searched;
  if constexpr (Request.aim.max_period < infinity || Request.aim.max_latency < infinity)
    tighten(out.aim, Request.aim, planned_figures<Net, Cluster, Found>);
  return out;
}

/// Whether the plan of what was found keeps to all limits of Request.
template <class Net, class Cluster, request Request, auto Limits, class Found> consteval bool keeps_all() {
  if constexpr (!Found::found) return false;
  else if constexpr (tighter<Net, Cluster, Request, Limits, Found>() != Limits) return false;
  else return same_limits(nearer<Net, Cluster, Request, Request, Found>(), Request);
}

/// The mapping with least memory, as the search counts, if its plan keeps within the limits of the request.
template <class Net, class Cluster, request Request> constexpr auto fit_smallest() {
  constexpr request smallest = [] {
    request out = Request;
    out.aim.best = objective::peak_memory;
    return out;
  }();
  constexpr auto ram = rank_limits<Net, Cluster>;
  using here = searched<Net, Cluster, smallest, ram>;
  if constexpr (!here::found || keeps_all<Net, Cluster, Request, ram, here>()) return here{};
  else return none{};
}

/// The first of these that keeps to all limits: the mapping with the shortest latency, if that is limited, and the one with
/// the most frames/s, because plans may be better than the search counts; and the one with least memory.
template <class Net, class Cluster, request Request, bool Latency = true> constexpr auto fit_nearest() {
  constexpr bool limited = (Latency ? Request.aim.max_latency : Request.aim.max_period) < infinity;
  if constexpr (limited) {
    constexpr auto limits = rank_limits<Net, Cluster, Request.memory>;
    using here = searched<Net, Cluster, nearest_request(Request, Latency), limits>;
    if constexpr (keeps_all<Net, Cluster, Request, limits, here>()) return here{};
    else if constexpr (Latency) return fit_nearest<Net, Cluster, Request, false>();
    else return fit_smallest<Net, Cluster, Request>();
  } else if constexpr (Latency) {
    return fit_nearest<Net, Cluster, Request, false>();
  } else {
    return fit_smallest<Net, Cluster, Request>();
  }
}

/// Searches until the plan of the mapping keeps within the request's limits, each time with limits tightened by as much as
/// the plan exceeded them. If the first search finds nothing, the next one has looser limits of memory, since the search
/// counts a little more than plans need. find_within does the same at run time.
template <class Net, class Cluster, request Request, auto Limits, request Searched = Request, int Round = 0,
          class Here = searched<Net, Cluster, Searched, Limits>>
constexpr auto fit() {
  if constexpr (Round == max_rounds) return fit_nearest<Net, Cluster, Request>();
  else if constexpr (Here::found) {
    constexpr auto less = tighter<Net, Cluster, Request, Limits, Here>();
    if constexpr (less != Limits) return fit<Net, Cluster, Request, less, Searched, Round + 1>();
    else {
      constexpr request near = nearer<Net, Cluster, Request, Searched, Here>();
      if constexpr (same_limits(near, Searched)) return Here{};
      else return fit<Net, Cluster, Request, Limits, near, Round + 1>();
    }
  } else if constexpr (Here::value.too_many_kinds) {
    return Here{};
  } else if constexpr (Round > 0) {
    return fit_nearest<Net, Cluster, Request>();
  } else if constexpr (missing<Net, Cluster, Request, Limits> == 0) {
    return fit_nearest<Net, Cluster, Request>();
  } else {
    constexpr auto more = [] {
      const std::int64_t least = missing<Net, Cluster, Request, Limits>;
      auto out = Limits;
      for (auto& limit : out) limit = std::max(limit, least);
      return out;
    }();
    return fit<Net, Cluster, Request, more, Searched, 1>();
  }
}

template <class Net, class Cluster, request Request>
using best_fit = decltype(fit<Net, Cluster, Request, rank_limits<Net, Cluster, Request.memory>>());

/// The figures of the plan of what was found, but memory as the search counts it.
template <class Net, class Cluster, class Found>
inline constexpr prediction counted_figures = [] {
  prediction out = planned_figures<Net, Cluster, Found>;
  out.memory = Found::value.expected.memory;
  return out;
}();

/// The mapping with the fewest devices that is good enough beside Best, found by bisection: with Few devices there is none,
/// and Here is the best one known.
template <class Net, class Cluster, request Request, class Best, int Few, class Here> constexpr auto fewest() {
  if constexpr (Here::value.ranks - Few <= 1) return Here{};
  else {
    constexpr request fewer = [] {
      request out = Request;
      out.aim.max_devices = (Few + Here::value.ranks) / 2;
      return out;
    }();
    using found = best_fit<Net, Cluster, fewer>;
    constexpr bool enough = [] {
      if constexpr (!found::found) return false;
      else return good_enough(Request, counted_figures<Net, Cluster, found>, counted_figures<Net, Cluster, Best>);
    }();
    if constexpr (enough) return fewest<Net, Cluster, Request, Best, Few, found>();
    else return fewest<Net, Cluster, Request, Best, fewer.aim.max_devices, Here>();
  }
}

template <class Net, class Cluster, request Request> constexpr auto answered() {
  using best = best_fit<Net, Cluster, Request>;
  if constexpr (Request.percent < 0 || !best::found) return best{};
  else return fewest<Net, Cluster, Request, best, 0, best>();
}
template <class Net, class Cluster, request Request> using answer = decltype(answered<Net, Cluster, Request>());

}  // namespace dice::partition::detail
