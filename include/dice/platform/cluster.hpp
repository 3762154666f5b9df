// Boards, hosts and the connections between them: the input of predictions and best_mapping.
#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/platform/board.hpp"
#include "dice/platform/connection.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace dice {

/// A machine of kind Board, by the name under which mpirun starts ranks on it.
template <meta::fixed_string Name, class Board> struct host final {};

/// The available machines: host<…>s in the order in which ranks take them, and connection<…>s.
template <class... Entry> struct cluster final {};

namespace platform {

/// A host as a value; its processors are those from `first_processor` on.
struct host_info {
  std::string_view name, board;
  std::int64_t memory = 0;  ///< of the board, in bytes
  link inside{};            ///< between its processors
  int first_processor = 0, processors = 0;
  int kind = 0;  ///< the first host of the same board type
};

/// A cluster as values.
struct cluster_view {
  std::span<const host_info> hosts;
  std::span<const processor_info> processors;  ///< of all hosts
  std::span<const int> host_of;                ///< by processor
  std::span<const link> links;                 ///< host a to host b at a · hosts + b; within a host: between its processors

  constexpr int size() const { return static_cast<int>(hosts.size()); }
  constexpr const link& between(int a, int b) const {
    return links[static_cast<std::size_t>(a) * hosts.size() + static_cast<std::size_t>(b)];
  }
};

/// The first mistake of a cluster; see cluster_mistake for the numbers.
struct cluster_finding {
  cluster_mistake what = cluster_mistake::none;
  int where = 0, which = 0;
};

template <class T> struct host_traits { static constexpr bool is = false; };
template <meta::fixed_string Name, class Board> struct host_traits<host<Name, Board>> {
  static constexpr bool is = true;
  static constexpr std::string_view name = Name.view();
  using board_type = Board;
};

template <class T> struct cluster_traits { static constexpr cluster_finding check{cluster_mistake::not_a_cluster, 0, 0}; };
template <class... Entry> struct cluster_traits<cluster<Entry...>> {
 private:
  template <template <class> class Traits, class List, class... T> struct keep { using type = List; };
  template <template <class> class Traits, class... K, class T, class... Rest>
  struct keep<Traits, meta::type_list<K...>, T, Rest...>
      : keep<Traits, std::conditional_t<Traits<T>::is, meta::type_list<K..., T>, meta::type_list<K...>>, Rest...> {};

  template <class Host> using board_of = board_traits<typename host_traits<Host>::board_type>;
  template <class... H> static constexpr bool boards(meta::type_list<H...>) { return (board_of<H>::is && ...); }

  struct wire {
    std::string_view a, b;
    link value{};
    bool is_between = false;
    cluster_mistake wrong = cluster_mistake::none;
  };
  template <class... C> static constexpr auto wires_of(meta::type_list<C...>) {
    return std::array<wire, sizeof...(C)>{wire{connection_traits<C>::a, connection_traits<C>::b, connection_traits<C>::value,
                                               connection_traits<C>::is_between, connection_mistake<C>()}...};
  }

 public:
  using hosts = typename keep<host_traits, meta::type_list<>, Entry...>::type;
  using connections = typename keep<connection_traits, meta::type_list<>, Entry...>::type;

 private:
  static constexpr auto wires = wires_of(connections{});
  template <class... H> static constexpr auto names_of(meta::type_list<H...>) {
    return std::array<std::string_view, sizeof...(H)>{host_traits<H>::name...};
  }
  static constexpr auto names = names_of(hosts{});

  /// Index of the connection between hosts a and b: the one that names them, else the one for every pair; -1 if there is
  /// none.
  static constexpr int wire_between(std::size_t a, std::size_t b) {
    int general = -1;
    for (std::size_t w = 0; w < wires.size(); ++w) {
      const auto& c = wires[w];
      if (!c.is_between) general = static_cast<int>(w);
      else if ((c.a == names[a] && c.b == names[b]) || (c.a == names[b] && c.b == names[a])) return static_cast<int>(w);
    }
    return general;
  }

  template <class... H> static constexpr cluster_finding check_all(meta::type_list<H...>) {
    using enum cluster_mistake;
    int at = 0;
    for (const bool right : {true, (host_traits<Entry>::is || connection_traits<Entry>::is)...}) {
      if (!right) return {not_a_cluster, at - 1, 0};
      ++at;
    }
    if (sizeof...(H) == 0) return {not_a_cluster, 0, 0};
    at = 0;
    for (const bool right : {true, board_of<H>::is...}) {
      if (!right) return {not_a_board, at - 1, 0};
      ++at;
    }
    if constexpr (boards(hosts{})) {
      cluster_finding found{};
      at = 0;
      const auto take = [&](auto board_check) {
        if (found.what == none && board_check.what != none) found = {board_check.what, at, board_check.which};
        ++at;
      };
      (take(board_of<H>::check), ...);
      if (found.what != none) return found;
    }
    for (std::size_t a = 0; a < names.size(); ++a)
      if (names[a].empty()) return {host_unnamed, static_cast<int>(a), 0};
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (names[a] == names[b]) return {host_twice, static_cast<int>(b), static_cast<int>(a)};
    const auto known = [](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    for (std::size_t w = 0; w < wires.size(); ++w) {
      const auto& c = wires[w];
      if (c.wrong != none) return {c.wrong, static_cast<int>(w), 0};
      if (c.is_between && (!known(c.a) || !known(c.b) || c.a == c.b)) return {unknown_host, static_cast<int>(w), 0};
      for (std::size_t v = 0; v < w; ++v) {
        const auto& o = wires[v];
        if (c.is_between != o.is_between) continue;
        if (!c.is_between || (c.a == o.a && c.b == o.b) || (c.a == o.b && c.b == o.a))
          return {connection_twice, static_cast<int>(v), static_cast<int>(w)};
      }
    }
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (wire_between(a, b) < 0) return {no_connection, static_cast<int>(b), static_cast<int>(a)};
    return {};
  }

 public:
  static constexpr cluster_finding check = check_all(hosts{});
  /// The connection between two different hosts, by their numbers.
  static constexpr link link_between(std::size_t a, std::size_t b) { return wires[wire_between(a, b)].value; }
};

namespace detail {

template <class List> struct joined;
template <class... P> struct joined<meta::type_list<meta::type_list<P...>>> { using type = meta::type_list<P...>; };
template <> struct joined<meta::type_list<>> { using type = meta::type_list<>; };
template <class... A, class... B, class... Rest>
struct joined<meta::type_list<meta::type_list<A...>, meta::type_list<B...>, Rest...>>
    : joined<meta::type_list<meta::type_list<A..., B...>, Rest...>> {};

}  // namespace detail

/// A valid cluster as values.
template <class Cluster> struct cluster_values;
template <class... Entry> struct cluster_values<cluster<Entry...>> {
 private:
  using traits = cluster_traits<cluster<Entry...>>;
  template <class Host> using board_of = board_traits<typename host_traits<Host>::board_type>;
  template <class... H>
  static auto processors_of(meta::type_list<H...>) ->
      typename detail::joined<meta::type_list<typename board_of<H>::processors...>>::type;

 public:
  /// All hosts' processors as types, in the order of the hosts.
  using processors = decltype(processors_of(typename traits::hosts{}));

 private:
  template <class... H> static constexpr auto make_hosts(meta::type_list<H...>) {
    std::array<host_info, sizeof...(H)> out{host_info{host_traits<H>::name, board_of<H>::name, board_of<H>::memory,
                                                      board_of<H>::inside, 0,
                                                      static_cast<int>(board_of<H>::values.size())}...};
    int at = 0;
    const auto set_kind = [&]<class Host>(meta::type_list<Host>) {
      auto& mine = out[at];
      if (at > 0) mine.first_processor = (&mine)[-1].first_processor + (&mine)[-1].processors;
      int k = 0;
      const bool same[] = {std::is_same_v<board_of<Host>, board_of<H>>...};
      while (!same[k]) ++k;
      mine.kind = k;
      ++at;
    };
    (set_kind(meta::type_list<H>{}), ...);
    return out;
  }
  static constexpr auto hosts = make_hosts(typename traits::hosts{});
  static constexpr std::size_t count = static_cast<std::size_t>(hosts.back().first_processor + hosts.back().processors);
  template <class... H> static constexpr auto make_processors(meta::type_list<H...>) {
    std::array<processor_info, count> out{};
    std::size_t at = 0;
    const auto add = [&](const auto& values) {
      for (const auto& p : values) out[at++] = p;
    };
    (add(board_of<H>::values), ...);
    return out;
  }
  static constexpr auto processor_list = make_processors(typename traits::hosts{});
  static constexpr auto host_list = [] {
    std::array<int, count> out{};
    for (std::size_t h = 0; h < hosts.size(); ++h)
      for (int p = 0; p < hosts[h].processors; ++p) out[hosts[h].first_processor + p] = static_cast<int>(h);
    return out;
  }();
  static constexpr auto links = [] {
    std::array<link, hosts.size() * hosts.size()> out{};
    for (std::size_t a = 0; a < hosts.size(); ++a)
      for (std::size_t b = 0; b < hosts.size(); ++b)
        out[a * hosts.size() + b] = a == b ? hosts[a].inside : traits::link_between(a, b);
    return out;
  }();

 public:
  static constexpr cluster_view view{hosts, processor_list, host_list, links};
};

}  // namespace platform
}  // namespace dice
