// The search for mixes at compile time, in a small catalogue, and its answer as a mapping.
#pragma once

#include "dice/cost/arranged.hpp"
#include "dice/cost/arrangement.hpp"
#include "dice/cost/predicted.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/partition/catalogue.hpp"
#include "dice/partition/choice.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/fit.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/sections.hpp"
#include "dice/partition/written_sections.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/types.hpp"
#include "dice/placement/written.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/schedule/static_plan.hpp"
#include "dice/schedule/static_split.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace dice::partition::detail {

/// The parts of layers that a search at compile time plans: the compiler takes about 0.4 ms for each (g++ 12).
inline constexpr int most_parts = 1500;
/// With more devices there are too many arrangements for a compiler.
inline constexpr int most_devices_when_compiled = 12;
/// Cuts before which the arrangement may change at compile time.
inline constexpr int most_borders = 20;

/// The catalogue of a search at compile time: as many arrangements as `most_parts` allows, those of all devices first.
constexpr meta::array<arrangement> small_catalogue(const problem& p, const catalogue_request& r, int layers) {
  const auto all = catalogue_of(p, r);
  meta::array<arrangement> out;
  int parts = 0;
  bool any = false;
  for (const auto& a : all) {
    if (a.has_parts()) {
      if (any && parts + layers * a.devices.size() > most_parts) continue;
      parts += layers * a.devices.size();
      any = true;
    }
    out.push_back(a);
  }
  return out;
}

/// A mapping as values of fixed size.
template <int Layers> struct mixed_choice {
  static constexpr std::size_t room = 128;
  /// An entry of the mapping: a device, ranks first … first + count - 1 of `ranks`, a work, or frames in flight.
  struct entry {
    placement::entry::kind what{};
    int rank = 0, processor = 0;
    int first = 0, count = 0;  ///< of ranks; of a work: in `lists`
    int word = 0, down = 1, across = 1, exchange_every = 1, first_share = 0, shares = 0;
    int frames = 0;
  };
  std::array<entry, room> entries{};
  std::array<placement::interval, static_cast<std::size_t>(Layers)> lists{};
  std::array<int, 4 * room> ranks{}, shares{};
  std::array<int, max_stages> processor{};  ///< by rank
  int count = 0, rank_count = 0;
  double value = infinity;  ///< of the objective, as the search counts
  std::int64_t memory = 0;  ///< bytes of the device that needs most, as the search counts
};

/// The best mix for `r` whose value is less than `known`, each device having at least `room` bytes, whatever r says; none if
/// the search finds stages of whole layers only.
template <class Net, class Cluster>
constexpr auto choose_mix(const request& r, double known, std::int64_t room, meta::view<char> whole_only) {
  mixed_choice<Net::size> out;
  const auto& s = cost::setting_of<Net, Cluster>;
  const meta::view<graph::any_operator> operators{schedule::detail::operators_of<Net>.data(), Net::size};
  problem p = cost::problem_of(s);
  if (p.devices.size() > most_devices_when_compiled) return out;
  auto limits = limits_of(s.cluster, r.memory);
  for (auto& bytes : limits) bytes = std::max(bytes, room);
  for (auto& d : p.devices) d.memory_limit = limits[d.processor];
  const goal& g = r.aim;
  const bool frames = g.best != objective::latency || g.max_period < infinity, energy = g.best == objective::energy;
  const auto all = small_catalogue(
      p, {.words = r.words, .effort = 0, .replicas = frames, .input_at = g.input_at, .output_at = g.output_at}, Net::size);
  if (all.size() == p.devices.size()) return out;
  const cost::arranged_network net(s, p, operators, all, whole_only, g.input_at, g.output_at);
  const counted what{.latency = g.best == objective::latency || g.max_latency < infinity,
                     .period = g.best == objective::throughput || energy || g.max_period < infinity,
                     .energy = energy,
                     .memory = g.best == objective::peak_memory || may_exceed(p, span_of(limits))};
  const auto bound = bound_of(net, 4);
  arranged_solution found;
  const auto borders_of_all = spread_borders(p, Net::size);
  for (int a = p.devices.size(); a < all.size() && !g.in_order; ++a) {
    section_search search(net, s, g, what, 1, borders_of_all, {});
    if (!search.run_pure(a, known)) continue;
    found = search.solutions(1)[0];
    known = value_of(g.best, found.expected);
  }
  for (const int most : {5, most_borders}) {  // the first finds a value that rules much out
    const auto borders = spread_borders(p, most);
    section_search search(net, s, g, what, 1, borders, {});
    if (g.best == objective::latency || g.best == objective::throughput) search.bound_by(bound);
    if (!search.run(known)) continue;
    found = search.solutions(1)[0];
    known = value_of(g.best, found.expected);
  }
  if (found.empty()) return out;
  bool whole = true;
  for (const auto& part : found.sections) whole = whole && all[part.arrangement].is_whole();
  if (whole) return out;
  const auto written = mapping_of(p, s.cluster, all, found.sections);
  const auto& m = written.mapping;
  if (m.entries.size() > static_cast<int>(out.room) || m.lists.size() > Net::size ||
      m.ranks.size() > 4 * static_cast<int>(out.room) || m.shares.size() > 4 * static_cast<int>(out.room) ||
      written.devices.size() > static_cast<int>(max_stages))
    return out;
  int list = 0, rank = 0, share = 0;
  for (const auto& e : m.entries) {
    auto& to = out.entries[static_cast<std::size_t>(out.count++)];
    to.what = e.what;
    to.frames = e.frames;
    if (e.what == placement::entry::kind::dev) {
      to.rank = e.dev.rank;
      to.processor = p.devices[written.devices[e.dev.rank]].processor;
    } else if (e.what == placement::entry::kind::ranks) {
      to.first = rank;
      to.count = static_cast<int>(e.ranks.count);
      rank += to.count;
    } else if (e.what == placement::entry::kind::work) {
      to.word = e.work.word;
      to.down = e.work.down;
      to.across = e.work.across;
      to.exchange_every = e.work.exchange_every;
      to.first = list;
      to.count = static_cast<int>(e.work.lists.count);
      list += to.count;
      to.first_share = share;
      to.shares = static_cast<int>(e.work.shares.count);
      share += to.shares;
    }
  }
  std::copy(m.lists.begin(), m.lists.end(), out.lists.begin());
  std::copy(m.ranks.begin(), m.ranks.end(), out.ranks.begin());
  std::copy(m.shares.begin(), m.shares.end(), out.shares.begin());
  for (const int d : written.devices) out.processor[static_cast<std::size_t>(out.rank_count++)] = p.devices[d].processor;
  out.value = value_of(g.best, found.expected);
  out.memory = found.expected.memory;
  return out;
}

/// Notes in `out`, by layer, that a request's no_split_of<…> names the layer.
template <class Net, class Request> struct layers_named {
  static constexpr void note(char*) {}
};
template <class Net, class... L> struct layers_named<Net, no_split_of<L...>> {
  static constexpr void note(char* out) {
    for (const auto& list : {placement::detail::interval_of<Net, L>...})
      for (int l = list.first; l <= list.last; ++l) out[l] = 1;
  }
};
template <class T> inline constexpr bool names_layers = false;
template <class... L> inline constexpr bool names_layers<no_split_of<L...>> = true;

/// By layer: whether a request's no_split_of<…> names it.
template <class Net, class... W> constexpr auto kept_whole() {
  std::array<char, static_cast<std::size_t>(Net::size)> out{};
  (layers_named<Net, W>::note(out.data()), ...);
  return out;
}

/// The answer Choice::value as a mapping type.
template <class Net, class Cluster, class Choice> struct written_mix {
  static constexpr const auto& all = Choice::value;
  using values = platform::cluster_values<Cluster>;

  template <int Processor, int Rank> struct device {
    using on =
        platform::processor_traits<typename cost::detail::at_in<typename values::processors>::template type<Processor>>;
    using host = typename cost::detail::at_in<typename platform::cluster_traits<Cluster>::hosts>::template type<
        values::view.host_of[Processor]>;
    using type = typename found_dev<Rank, typename on::unit_type, on::value.unit.direct, typename tie<host>::type>::type;
  };

  template <int First, int... K> static auto ranks_of(std::integer_sequence<int, K...>) -> ranks<all.ranks[First + K]...>;
  template <int First, int... K> static auto shares_in(std::integer_sequence<int, K...>) -> shares<all.shares[First + K]...>;
  template <int At> using list = typename row<Net, all.lists[At].first, all.lists[At].last>::type;

  template <template <class...> class Word, int E, int... K> static auto work(std::integer_sequence<int, K...>) {
    constexpr auto& e = all.entries[E];
    if constexpr (e.shares > 0 && e.exchange_every > 1)
      return std::type_identity<
          Word<list<e.first + K>..., decltype(shares_in<e.first_share>(std::make_integer_sequence<int, e.shares>{})),
               exchange_every<e.exchange_every>>>{};
    else if constexpr (e.shares > 0)
      return std::type_identity<
          Word<list<e.first + K>..., decltype(shares_in<e.first_share>(std::make_integer_sequence<int, e.shares>{}))>>{};
    else if constexpr (e.exchange_every > 1)
      return std::type_identity<Word<list<e.first + K>..., exchange_every<e.exchange_every>>>{};
    else return std::type_identity<Word<list<e.first + K>...>>{};
  }
  template <int Down, int Across> struct of_grid { template <class... T> using word = tiles<Down, Across, T...>; };
  template <int E> static auto entry() {
    using kind = placement::entry::kind;
    constexpr auto& e = all.entries[E];
    if constexpr (e.what == kind::dev) return std::type_identity<typename device<e.processor, e.rank>::type>{};
    else if constexpr (e.what == kind::ranks)
      return std::type_identity<decltype(ranks_of<e.first>(std::make_integer_sequence<int, e.count>{}))>{};
    else if constexpr (e.what == kind::in_flight) return std::type_identity<in_flight<e.frames>>{};
    else {
      constexpr auto is = [](std::string_view word) { return e.word == placement::word_number(word); };
      using lists = std::make_integer_sequence<int, e.count>;
      if constexpr (is("layers")) return work<layers, E>(lists{});
      else if constexpr (is("rows")) return work<rows, E>(lists{});
      else if constexpr (is("columns")) return work<columns, E>(lists{});
      else if constexpr (is("output_channels")) return work<output_channels, E>(lists{});
      else if constexpr (is("input_channels")) return work<input_channels, E>(lists{});
      else if constexpr (is("replicas")) return work<replicas, E>(lists{});
      else return work<of_grid<e.down, e.across>::template word, E>(lists{});
    }
  }
  template <int... E> static auto join(std::integer_sequence<int, E...>) -> mapping<typename decltype(entry<E>())::type...>;
  using type = decltype(join(std::make_integer_sequence<int, all.count>{}));
};

/// The mix found for a request, if its value is less than Known, each device having at least Room bytes.
template <class Net, class Cluster, request Request, auto Known, std::int64_t Room, class... W> struct searched_mix {
  static constexpr auto kept = kept_whole<Net, W...>();
  static constexpr auto value = choose_mix<Net, Cluster>(Request, Known.value, Room, {kept.data(), kept.size()});
};

/// A value of an objective as a template argument.
struct known_value {
  double value = infinity;
};

/// Whether the plan of mapping Map keeps within the request's limits.
template <class Net, class Cluster, request Request, class Map, class Found> consteval bool keeps_limits() {
  constexpr const auto& expected = predicted<Net, Map, Cluster>;
  if (!keeps(expected, Request.aim)) return false;
  constexpr const auto& c = platform::cluster_values<Cluster>::view;
  const auto limits = rank_limits<Net, Cluster, Request.memory>;
  board_memory boards(c);
  for (const auto& r : schedule::plan_of<Net, Map>.ranks) {
    const auto processor = static_cast<std::size_t>(Found::value.processor[static_cast<std::size_t>(r.rank)]);
    if (boards.add(static_cast<int>(processor), r.peak_bytes, limits[processor]) > 0) return false;
  }
  return true;
}

/// Whether a mapping may need more memory than devices may have.
template <class Net, class Cluster, std::int64_t Most>
inline constexpr bool memory_is_short = may_exceed(cost::problem_of(cost::setting_of<Net, Cluster>),
                                                   rank_limits<Net, Cluster, Most>);

/// A mix has to be better than stages by this part: that much is lost in the errors of predictions.
inline constexpr double least_gain = 0.03;

/// The mapping for a request: a mix if it is better than Stages, the best mapping of whole layers (void: there is none).
/// Else void. Where nothing is known that keeps to the limits, what is farthest within one of them counts, too, and what
/// the search believes to need too much memory: it counts more than plans need.
template <class Net, class Cluster, request Request, class Stages, class... W> struct with_mixes_of {
  static constexpr double stages = [] {
    if constexpr (std::is_void_v<Stages>) return infinity;
    else return value_of(Request.aim.best, Stages::expected);
  }();
  template <request Searched, std::int64_t Room>
  using found_for = searched_mix<Net, Cluster, Searched, known_value{stages * (1 - least_gain)}, Room, W...>;

  template <request Searched, std::int64_t Room> static constexpr auto found_as() {
    using found = found_for<Searched, Room>;
    if constexpr (found::value.count == 0) return std::type_identity<void>{};
    else {
      using map = typename written_mix<Net, Cluster, found>::type;
      if constexpr (!keeps_limits<Net, Cluster, Request, map, found>()) return std::type_identity<void>{};
      else if constexpr (value_of(Request.aim.best, predicted<Net, map, Cluster>) < stages * (1 - least_gain))
        return std::type_identity<map>{};
      else return std::type_identity<void>{};
    }
  }
  template <std::int64_t Room, request Searched, request... Next> static constexpr auto first_of() {
    using here = decltype(found_as<Searched, Room>());
    if constexpr (!std::is_void_v<typename here::type> || sizeof...(Next) == 0) return here{};
    else return first_of<Room, Next...>();
  }
  template <std::int64_t Room> static constexpr auto in_room() {
    constexpr auto& aim = Request.aim;
    constexpr bool latency = aim.max_latency < infinity && aim.best != objective::latency,
                   fps = aim.max_period < infinity && aim.best != objective::throughput;
    if constexpr (stages < infinity || !(latency || fps)) return found_as<Request, Room>();
    else if constexpr (latency && fps)
      return first_of<Room, Request, nearest_request(Request, true), nearest_request(Request, false)>();
    else return first_of<Room, Request, nearest_request(Request, latency)>();
  }
  /// The request for the mix with least memory, within the boards' memory.
  static constexpr request smallest = [] {
    request out = Request;
    out.aim.best = objective::peak_memory;
    out.aim.max_period = out.aim.max_latency = infinity;
    out.memory = no_limit;
    return out;
  }();
  static constexpr auto answer() {
    using first = decltype(in_room<0>());
    if constexpr (!std::is_void_v<typename first::type> || stages < infinity) return first{};
    else if constexpr (!memory_is_short<Net, Cluster, Request.memory>) return first{};
    else {
      constexpr std::int64_t counted = found_for<smallest, 0>::value.memory;
      using second = decltype(in_room<counted>());
      if constexpr (counted == 0 || !std::is_void_v<typename second::type>) return second{};
      else return found_as<smallest, 0>();
    }
  }
  using type = typename decltype(answer())::type;
};

}  // namespace dice::partition::detail
