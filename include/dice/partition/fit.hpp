// The search at compile time, again and again until the plan of what it finds keeps to its limits.
#pragma once

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

/// Bytes that each processor's rank may have, by the wish or by its `ram` alone.
template <class Net, class Cluster, std::int64_t Most = no_limit>
inline constexpr auto rank_limits = [] {
  constexpr const auto& view = platform::cluster_values<Cluster>::view;
  std::array<std::int64_t, view.processors.size()> out{};
  const auto all = limits_of(view, Most);
  std::copy(all.begin(), all.end(), out.begin());
  return out;
}();

/// The search with limits on what it counts.
template <class Net, class Cluster, wish Wish, auto Limits> struct searched {
  static constexpr auto value = choose<Net, Cluster>(Wish.aim, Limits);
  static constexpr bool found = value.count > 0;
};

/// Limits on what the search counts under which the plan of its mapping, Found, may keep to those of the wish: Limits if it
/// does so already.
template <class Net, class Cluster, wish Wish, auto Limits, class Found> consteval auto tighter() {
  using written_as = written<Net, Cluster, Found>;
  auto out = Limits;
  meta::array<rank_memory> ranks;
  for (const auto& r : schedule::plan_of<Net, typename written_as::type>.ranks) {
    const int processor = written_as::all.processor[static_cast<std::size_t>(r.rank)];
    std::size_t k = 0;
    while (Found::value.stages[k].device != processor) ++k;
    ranks.push_back({processor, Found::value.held[k], r.peak_bytes});
  }
  tighten(out, rank_limits<Net, Cluster, Wish.memory>, platform::cluster_values<Cluster>::view, ranks);
  return out;
}

/// No answer.
struct none {
  static constexpr choice<1> value{};
  static constexpr bool found = false;
};

/// Bytes that the search has to be allowed besides Limits, as missing_memory.
template <class Net, class Cluster, wish Wish, auto Limits>
inline constexpr std::int64_t missing = [] {
  problem p = problem_of(cost::setting_of<Net, Cluster>);
  set_limits(p, Limits);
  return missing_memory(p, Wish.aim);
}();

/// A mapping with least memory, as the search counts, if its plan keeps to the limits of the wish.
template <class Net, class Cluster, wish Wish> constexpr auto fit_smallest() {
  constexpr wish smallest = [] {
    wish out = Wish;
    out.aim.best = objective::peak_memory;
    return out;
  }();
  constexpr auto ram = rank_limits<Net, Cluster>;
  using here = searched<Net, Cluster, smallest, ram>;
  if constexpr (!here::found) return here{};
  else if constexpr (tighter<Net, Cluster, Wish, ram, here>() == ram) return here{};
  else return none{};
}

/// Searches until the plan of the mapping keeps to the limits of the wish, each time with limits that are as much tighter as
/// the plan exceeded them; the first time with looser ones if the search, which counts a little more than plans take, finds
/// nothing. find_within does the same at run time.
template <class Net, class Cluster, wish Wish, auto Limits, int Round = 0, class Here = searched<Net, Cluster, Wish, Limits>>
constexpr auto fit() {
  if constexpr (Round == most_rounds) return fit_smallest<Net, Cluster, Wish>();
  else if constexpr (Here::found) {
    constexpr auto less = tighter<Net, Cluster, Wish, Limits, Here>();
    if constexpr (less == Limits) return Here{};
    else return fit<Net, Cluster, Wish, less, Round + 1>();
  } else if constexpr (Here::value.too_many_kinds) {
    return Here{};
  } else if constexpr (Round > 0) {
    return fit_smallest<Net, Cluster, Wish>();
  } else if constexpr (missing<Net, Cluster, Wish, Limits> == 0) {
    return Here{};
  } else {
    constexpr auto more = [] {
      const std::int64_t least = missing<Net, Cluster, Wish, Limits>;
      auto out = Limits;
      for (auto& limit : out) limit = std::max(limit, least);
      return out;
    }();
    return fit<Net, Cluster, Wish, more, 1>();
  }
}

template <class Net, class Cluster, wish Wish>
using answer = decltype(fit<Net, Cluster, Wish, rank_limits<Net, Cluster, Wish.memory>>());

}  // namespace dice::partition::detail
