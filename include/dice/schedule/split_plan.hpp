// The plan of a mapping that computes layers in parts: one implementation for compile time and run time.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/algorithms.hpp"
#include "dice/parts/expand.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::schedule {

/// A plan and its network of parts.
struct built_split {
  parts::network net;
  meta::array<algorithm::choice> algorithms;  ///< by layer of that network
  built_plan plan;
};

namespace detail {

/// The algorithms of whole layers by method, which memory limits may change. Small parts may have another one, all parts of
/// a layer by one method the same. A layer of which a device with direct_convolutions computes a part, or some frames, is
/// direct on all devices of that method.
struct whole_algorithms {
  algorithm::by_method<meta::array<algorithm::choice>> chosen, smallest;

  /// A template, so that only programs that split layers compile it.
  template <graph::operator_value Any>
  constexpr whole_algorithms(const algorithm::tables& all, const graph::network_view& net, meta::view<Any> operators,
                             const placement::assignment& where, meta::view<platform::device> devices) {
    for (std::size_t m = 0; m < algorithm::method_count; ++m)
      for (const bool small : {false, true})
        for (const auto& c : (small ? all.smallest : all.chosen).values[m])
          (small ? smallest : chosen).values[m].push_back(c);
    for (int l = 0; l < static_cast<int>(where.work_of.size()); ++l) {
      const auto& w = where.of(l);
      for (const bool direct : {false, true})
        for (const int rank : where.ranks_of(w)) {
          const auto& unit = devices[rank].unit;
          const auto by = algorithm::method_of(unit);
          if (direct && unit.direct) chosen[by][l] = all.direct[by][l];
          else if (!direct && w.has_parts())
            chosen[by][l] =
                parts::for_parts(by, operators[l], net.operands(l), net.layers[l].output, all.chosen[by][l], where, w);
        }
    }
  }
  constexpr algorithm::by_method<meta::view<algorithm::choice>> view() const {
    algorithm::by_method<meta::view<algorithm::choice>> out;
    for (std::size_t m = 0; m < algorithm::method_count; ++m)
      out.values[m] = {chosen.values[m].data(), static_cast<std::size_t>(chosen.values[m].size())};
    return out;
  }
};

/// Replaces algorithms of layers of which rank `rank` has parts, those that save it the most bytes first, until `bytes` are
/// saved or none saves any; if no weights can be saved, those with the most working memory. All parts of a layer by one
/// backend keep the same algorithm. Returns false if it replaced none.
template <class Input>
constexpr bool shrink(const Input& in, const built_split& now, whole_algorithms& whole, int rank, std::int64_t bytes) {
  const auto by = algorithm::method_of(in.devices[rank].unit);
  auto& chosen = whole.chosen[by];
  const auto& smallest = whole.smallest[by];
  const auto all = now.net.view();
  meta::array<std::int64_t> packed(chosen.size()), scratch(chosen.size());
  for (int l = 0; l < all.net.size(); ++l) {
    const int of = all.parts[l].layer;
    if (all.owner[l] != rank || !all.parts[l].is_own() || chosen[of].variant == smallest[of].variant) continue;
    const auto less = parts::choice_of(by, all, l, smallest[of]);
    // Its tiles of a layer have one copy of the weights.
    packed[of] = std::max(packed[of], now.algorithms[l].packed_bytes - less.packed_bytes);
    scratch[of] = std::max(scratch[of], now.algorithms[l].scratch_bytes - less.scratch_bytes);
  }
  bool any = false;
  while (bytes > 0) {
    int at = 0;
    for (int l = 0; l < packed.size(); ++l)
      if (packed[l] > packed[at]) at = l;
    if (packed.empty() || packed[at] <= 0) break;
    chosen[at] = smallest[at];
    bytes -= packed[at];
    packed[at] = 0;
    any = true;
  }
  if (any) return true;
  std::int64_t largest = 0;
  for (const auto saved : scratch) largest = std::max(largest, saved);
  for (int l = 0; l < scratch.size() && largest > 0; ++l)
    if (scratch[l] > largest / 2) chosen[l] = smallest[l];
  return largest > 0;
}

}  // namespace detail

/// The plan of a placement with layers in parts. While a rank exceeds its device's memory limit, as few layers as needed get
/// the smallest algorithms, on all ranks of a backend: `whole` becomes those of whole layers. It must cover the backends of
/// all devices, with the smallest algorithms if a device has a limit; `in.algorithms` is not read.
template <class Input = parts::parts_input>
[[gnu::cold]] constexpr built_split build_split(Input in, detail::whole_algorithms& whole, int in_flight) {
  algorithm::by_method<meta::array<algorithm::choice>> fastest;
  for (std::size_t m = 0; m < algorithm::method_count; ++m)
    for (const auto& c : whole.chosen.values[m]) fastest.values[m].push_back(c);
  meta::array<std::int64_t> peaks;  // with these
  bool restored = false;
  for (int round = 1;; ++round) {
    in.algorithms = whole.view();
    built_split out{.net = parts::expand(in), .algorithms = {}, .plan = {}};
    const auto view = out.net.view();
    out.algorithms = meta::array<algorithm::choice>(view.net.size());
    parts::choose(in, view, out.algorithms);
    out.plan = build({view.net, view.owner, in.devices, out.algorithms, in_flight, view.parts, view.replicas, view.members});
    if (restored) return out;
    bool again = false;
    for (const auto& r : out.plan.ranks) {
      if (round == 1) peaks.push_back(r.peak_bytes);
      const auto limit = in.devices[r.rank].memory_limit;
      if (limit >= 0 && r.peak_bytes > limit)
        again |= detail::shrink(in, out, whole, r.rank, round < 4 ? r.peak_bytes - limit : r.weight_bytes);
    }
    if (again) continue;
    for (const auto& r : out.plan.ranks) {
      const auto limit = in.devices[r.rank].memory_limit;
      restored |= limit >= 0 && r.peak_bytes > limit && peaks[r.rank] < r.peak_bytes;
    }
    if (!restored) return out;  // else small algorithms did not help a rank
    for (std::size_t m = 0; m < algorithm::method_count; ++m)
      for (int l = 0; l < fastest.values[m].size(); ++l) whole.chosen.values[m][l] = fastest.values[m][l];
  }
}

}  // namespace dice::schedule
