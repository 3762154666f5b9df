// best_split: shares with which the devices of a split finish together.
#pragma once

#include "dice/cost/predicted.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/error.hpp"
#include "dice/placement/placement.hpp"
#include "dice/placement/types.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace dice::partition {

/// Divides `units` among devices, of which device d takes seconds[d] for all of them, and besides[d] for other work, so that
/// the last one ends as early as possible. Each gets at least one. Exact: every unit goes to the device that then ends
/// first, so that no device ends later than it must for the others to take the rest. Requires units ≥ N.
template <std::size_t N>
constexpr std::array<int, N> balanced(const std::array<double, N>& seconds, std::int64_t units,
                                      const std::array<double, N>& besides = {}) {
  const auto end = [&](std::size_t d, int share) { return besides[d] + share * seconds[d] / static_cast<double>(units); };
  std::array<int, N> out{};
  out.fill(1);
  for (auto left = units - static_cast<std::int64_t>(N); left > 0; --left) {
    std::size_t first = 0;
    for (std::size_t d = 1; d < N; ++d)
      if (end(d, out[d] + 1) < end(first, out[first] + 1)) first = d;
    ++out[first];
  }
  return out;
}

namespace detail {

/// Into how many parts layer l can be divided at most; of replicas, the frames of which each device gets its share.
constexpr std::int64_t units_of(const graph::network_view& net, int l, const placement::work_item& w) {
  if (w.has_replicas()) return 16;
  const auto& of = net.layers[l];
  const auto& cut = placement::about(w.cut);
  if (cut.sums && of.depth_step > 0)
    return std::max<std::int64_t>(net.layers[net.into(l)[0].from].output[of.depth_axis] / of.depth_step, 1);
  int which = 0;
  while (!cut.cuts[which]) ++which;
  const int axis = placement::axis_of(of, which);
  const auto step = of.cut_step(axis);
  return step == 0 ? 0 : (of.output[axis] + step - 1) / step;
}

/// The best shares of work W of mapping Map: parts of the layer that can be divided into most. In proportion to its share, a
/// device takes the time of all layers of the work, and of the messages that bring it parts of tensors of whole layers, and
/// that take its parts to them. A replica also takes the time of its other layers.
template <class Net, class Cluster, class Map, int W> consteval auto shares_of_work() {
  constexpr auto& placed = placement::of<Net, Map>;
  constexpr auto work = placed.view().work_items[W];
  const auto where = placed.view();
  const auto& net = graph::view_of<Net>;
  const auto& s = cost::setting_of<Net, Cluster>;
  const auto& ranks = cost::detail::ranks<Net, Map, Cluster>;
  std::array<double, work.ranks> seconds{}, besides{};
  const auto all = where.ranks_of(work);
  std::array<bool, Net::size * ranks.size()> sent{};
  const auto is_split = [](const placement::work_item& w) { return w.has_parts() || w.has_replicas(); };
  const auto exchange = [&](int tensor, int outside) {  // with the rank of a layer outside of the work, once
    const int other = where.owner[outside];
    auto& before = sent[static_cast<std::size_t>(tensor) * ranks.size() + static_cast<std::size_t>(other)];
    if (is_split(where.of(outside)) || std::exchange(before, true)) return;
    for (std::size_t i = 0; i < seconds.size(); ++i)
      if (all[i] != other)
        seconds[i] +=
            s.cluster.between(ranks[other].on_host, ranks[all[i]].on_host).time(net.layers[tensor].output.bytes(), 0);
  };
  std::int64_t units = work.ranks;
  for (int l = 0; l < Net::size; ++l) {
    const bool inside = where.work_of[l] == W;
    if (inside) units = std::max(units, units_of(net, l, work));
    for (std::size_t i = 0; inside && i < seconds.size(); ++i) seconds[i] += cost::seconds_on(s, ranks[all[i]], l);
    // Replicas compute other frames meanwhile.
    for (std::size_t i = 0; work.has_replicas() && i < seconds.size(); ++i)
      if (!is_split(where.of(l)) && where.owner[l] == all[i]) besides[i] += cost::seconds_on(s, ranks[all[i]], l);
    for (const auto& e : net.into(l))
      if ((where.work_of[e.from] == W) != inside) exchange(e.from, inside ? e.from : l);
  }
  return balanced(seconds, units, besides);
}

template <class T> inline constexpr bool is_shares = false;
template <int... N> inline constexpr bool is_shares<shares<N...>> = true;
template <> inline constexpr bool is_shares<first_free> = true;

/// Entry E of a mapping, work number W if it is one, with shares if it can have some and has none.
template <class Net, class Cluster, class Map, int W, class E> struct shared { using type = E; };

template <class Net, class Cluster, class Map, int W, template <class...> class Work, class... T> struct with_shares {
  static constexpr auto best = shares_of_work<Net, Cluster, Map, W>();
  template <std::size_t... At> static auto list(std::index_sequence<At...>) -> Work<T..., shares<best[At]...>>;
  using type = decltype(list(std::make_index_sequence<best.size()>{}));
};
template <class Net, class Cluster, class Map, int W, template <class...> class Work, class... T>
using shared_work =
    std::conditional_t<(is_shares<T> || ...), std::type_identity<Work<T...>>, with_shares<Net, Cluster, Map, W, Work, T...>>;
template <class Net, class Cluster, class Map, int W, template <class...> class Word, class... T>
requires(placement::detail::word_of<Word> >= 0 &&
         placement::work_words[placement::detail::word_of<Word>].has(
             placement::option::shares)) struct shared<Net, Cluster, Map, W, Word<T...>>
    : shared_work<Net, Cluster, Map, W, Word, T...> {
};

/// The number of the work that entry `position` of a mapping is, if it is one.
template <class Net, class Map> consteval int work_at(std::size_t position) {
  const auto& entries = placement::written<Net, Map>.entries;
  int out = 0;
  for (std::size_t k = 0; k < position; ++k) out += entries[k].what == placement::entry::kind::work;
  return out;
}

template <class Net, class Cluster, class... E, std::size_t... K>
auto share(const mapping<E...>*, std::index_sequence<K...>)
    -> mapping<typename shared<Net, Cluster, mapping<E...>, work_at<Net, mapping<E...>>(K), E>::type...>;
template <class Net, class Cluster, class... E>
auto share(const mapping<E...>* m) -> decltype(share<Net, Cluster>(m, std::index_sequence_for<E...>{}));
template <class Net, class Cluster, class Map> auto share(const Map*) -> Map;  // a split<…> has no shares

template <class Net, class Cluster, class Map> consteval auto best_split_of() {
  using plain = typename placement::normal<Map>::type;
  if constexpr (placement::found<Net, plain>) {
    return std::type_identity<Map>{};  // dice::main names the mistake
  } else {
    using mistake = decltype(cost::detail::cluster_verdict_for<Net, plain, Cluster>()());
    if constexpr (!std::is_same_v<mistake, int>) return std::type_identity<error::no_mapping<mistake>>{};
    else return std::type_identity<decltype(share<Net, Cluster>(static_cast<const plain*>(nullptr)))>{};
  }
}

}  // namespace detail
}  // namespace dice::partition

namespace dice {

/// Mapping Map of network Net, with the best shares for the devices of cluster Cluster in every rows, columns,
/// output_channels and input_channels without shares: those with which the slowest device of the run ends first, if each
/// takes the time of the work's layers, and of its messages from and to whole layers, in proportion to its share (exact for
/// these times; borders between parts are the same for all shares). Ranks without on<…> take the hosts in order, as for
/// `predicted`. A mistake of Map is left for dice::main to name; one of Cluster is named when the result is passed to
/// dice::main.
template <class Net, class Cluster, class Map>
using best_split = typename decltype(partition::detail::best_split_of<Net, Cluster, Map>())::type;

}  // namespace dice
