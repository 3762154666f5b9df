// Kinds of machines: what computes on them, and how fast.
#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/platform/connection.hpp"
#include "dice/platform/dev.hpp"
#include "dice/platform/rate.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace dice {

/// Measured times that replace a processor's stated speeds: `Measured` is a struct of a header that onnx2hpp made from what
/// --measure wrote, `profile<vgg19_profile::pi>`.
template <class Measured> struct profile final {};

/// Processor time that messages over the network take, in which it does not compute: us<…> for each, and gbytes_per_s<…> or
/// mbit_per_s<…> for its bytes (the overhead o of LogP, Culler et al. 1993, extended by one per byte).
template <class... About> struct sending final {};
template <class... About> struct receiving final {};

/// A processor of a board: its unit (cpu, cores<…>, threads<N>, gpu, gpu_at<i>), and in any order gflops<…> and
/// gbytes_per_s<…> or profile<…>, watts<busy, idle>, sending<…> and receiving<…>, ram<…> if it has memory of its own, and
/// direct_convolutions, which the ranks on it then have, too.
template <class Unit, class... About> struct processor final {};

/// A kind of machine: ram<…>, its processors, and optionally a connection<…> between them (by default, shared memory with 5
/// GB/s and 2 µs). A binary is built for each.
template <meta::fixed_string Name, class... About> struct board final {};

namespace platform {

/// Default connection between the processors of a board: what Open MPI's shared memory achieves on today's boards, rounded.
inline constexpr link shared_memory{.bytes_per_s = 5e9, .seconds = 2e-6, .within_host = true};

/// A processor as a value. Speeds are those of the whole processor.
struct processor_info {
  platform::unit unit{};
  std::span<const int> cores{};           ///< of cores<…>
  double flops = 0;                       ///< floating-point operations a second; 0 if a profile says
  double bytes_per_s = 0;                 ///< read and written; 0: a profile that has none
  double busy_watts = 0, idle_watts = 0;  ///< W
  link sending{}, receiving{};            ///< processor time that messages take; speed 0: none
  std::int64_t memory = 0;                ///< bytes: its own or its board's
  bool own_memory = false, profiled = false, has_watts = false;
};

/// What is wrong with a processor, board, connection or cluster.
enum class cluster_mistake : unsigned char {
  none,
  not_a_cluster,  ///< `where`: the entry
  not_a_board,    ///< `where`: the host
  no_processor,   ///< `where`: the host
  wrong_unit,     ///< `where`: the host, `which`: its processor; the same for those that follow
  stated_twice,   ///< the same part twice
  rate_missing,   ///< neither gflops and gbytes_per_s nor a profile
  rate_not_positive,
  rate_too_large,
  ram_missing,
  ram_not_positive,
  ram_too_large,
  board_stated_twice,            ///< `where`: the host, whose board has the same part twice
  board_connection,              ///< `where`: the host, `which`: the mistake of its board's connection
  host_unnamed,                  ///< `where`: the host
  host_twice,                    ///< `where`, `which`: the hosts
  unknown_host,                  ///< `where`: the connection
  not_a_connection,              ///< `where`: the connection; the same for the next three
  connection_rate_not_positive,  ///< also without a speed
  connection_rate_too_large,
  connection_stated_twice,  ///< the same part twice
  connection_twice,         ///< `where`, `which`: the connections
  no_connection,            ///< `where`, `which`: the hosts
};

/// What is wrong with a connection<…> itself.
template <class Connection> consteval cluster_mistake connection_mistake() {
  using traits = connection_traits<Connection>;
  return traits::wrong       ? cluster_mistake::not_a_connection
         : !traits::positive ? cluster_mistake::connection_rate_not_positive
         : !traits::bounded  ? cluster_mistake::connection_rate_too_large
         : traits::twice     ? cluster_mistake::connection_stated_twice
                             : cluster_mistake::none;
}

template <class Measured> inline constexpr unsigned states<profile<Measured>> = 1 << 7;
template <class... About> inline constexpr unsigned states<sending<About...>> = 1 << 8;
template <class... About> inline constexpr unsigned states<receiving<About...>> = 1 << 9;

template <class T> struct processor_traits { static constexpr bool is = false; };
template <class Unit, class... About> struct processor_traits<dice::processor<Unit, About...>> {
  static constexpr bool is = true;
  using unit_type = Unit;

 private:
  struct rates {
    processor_info info{};
    bool wrong = false, positive = true, bounded = true, twice = state_twice<About...>();
    template <class T> constexpr void take(T) { wrong = true; }
    template <rate V> constexpr void take(gflops<V>) { info.flops = positively(V.value) * 1e9; }
    template <rate V> constexpr void take(gbytes_per_s<V>) { info.bytes_per_s = positively(V.value) * 1e9; }
    template <rate Busy, rate Idle> constexpr void take(watts<Busy, Idle>) {
      info.busy_watts = positively(Busy.value);
      info.idle_watts = Idle.value;
      info.has_watts = true;
      positive = positive && Idle.value >= 0 && Idle.value <= Busy.value;
    }
    template <std::int64_t B> constexpr void take(ram<B>) {
      info.memory = B;
      info.own_memory = true;
    }
    constexpr void take(direct_convolutions) { info.unit.direct = true; }
    template <class M> constexpr void take(profile<M>) {
      info.profiled = true;
      // A stated value takes precedence, wherever it is.
      if constexpr (requires { typename M::watts; })
        if (!info.has_watts) take(typename M::watts{});
      if constexpr (requires { typename M::memory; })
        if (info.bytes_per_s == 0) take(typename M::memory{});
      if constexpr (requires { typename M::sending; })
        if (info.sending.bytes_per_s == 0) take(typename M::sending{});
      if constexpr (requires { typename M::receiving; })
        if (info.receiving.bytes_per_s == 0) take(typename M::receiving{});
    }
    template <class... A> constexpr void take(sending<A...>) { info.sending = handling<A...>(); }
    template <class... A> constexpr void take(receiving<A...>) { info.receiving = handling<A...>(); }
    template <class... A> constexpr link handling() {
      using traits = connection_traits<connection<A...>>;
      wrong = wrong || traits::is_between || traits::wrong;
      twice = twice || traits::twice;
      positive = positive && traits::positive;
      bounded = bounded && traits::bounded;
      return traits::value;
    }
    constexpr double positively(double v) {
      positive = positive && v > 0, bounded = bounded && v < too_large_rate;
      return v;
    }
  };
  static constexpr rates read = [] {
    rates r;
    r.info.unit = unit_traits<Unit>::value;
    r.info.cores = unit_traits<Unit>::core_list;
    (r.take(About{}), ...);
    return r;
  }();
  template <class... A> struct first_profile { using type = void; };
  template <class A, class... Rest> struct first_profile<A, Rest...> : first_profile<Rest...> {};
  template <class M, class... Rest> struct first_profile<profile<M>, Rest...> { using type = M; };

 public:
  using measured = typename first_profile<About...>::type;  ///< of its profile, or void
  static constexpr processor_info value = read.info;
  static constexpr cluster_mistake check = [] {
    // A GPU is a valid processor in a build without cuDNN: no mapping is made for it.
    const auto unit = unit_mistake<Unit>.what;
    if (read.wrong || (unit != unit_check::mistake::none && unit != unit_check::mistake::unit_without_backend))
      return cluster_mistake::wrong_unit;
    if (read.twice) return cluster_mistake::stated_twice;
    if (!read.positive) return cluster_mistake::rate_not_positive;
    if (!read.bounded) return cluster_mistake::rate_too_large;
    if (value.own_memory && value.memory <= 0) return cluster_mistake::ram_not_positive;
    if (value.memory >= too_many_bytes) return cluster_mistake::ram_too_large;
    const bool rated = value.flops > 0 && value.bytes_per_s > 0;
    return rated || value.profiled ? cluster_mistake::none : cluster_mistake::rate_missing;
  }();
};

template <class T> struct board_traits { static constexpr bool is = false; };
template <meta::fixed_string Name, class... About> struct board_traits<board<Name, About...>> {
  static constexpr bool is = true;
  static constexpr std::string_view name = Name.view();

 private:
  struct parts {
    std::int64_t memory = 0;
    link between = shared_memory;
    bool wrong = false, has_memory = false;
    cluster_mistake of_connection = cluster_mistake::none;
    template <class T> constexpr void take(T) { wrong = wrong || !processor_traits<T>::is; }
    template <std::int64_t B> constexpr void take(ram<B>) {
      memory = B;
      has_memory = true;
    }
    template <class... A> constexpr void take(connection<A...>) {
      using traits = connection_traits<connection<A...>>;
      of_connection = traits::is_between ? cluster_mistake::not_a_connection : connection_mistake<connection<A...>>();
      between = traits::value;
      between.within_host = true;
    }
  };
  static constexpr parts read = [] {
    parts p;
    (p.take(About{}), ...);
    return p;
  }();
  template <class... A> struct first_connection { using type = void; };
  template <class A, class... Rest> struct first_connection<A, Rest...> : first_connection<Rest...> {};
  template <class... A, class... Rest> struct first_connection<dice::connection<A...>, Rest...> {
    using type = dice::connection<A...>;
  };
  template <class List, class... T> struct keep { using type = List; };
  template <class... P, class T, class... Rest>
  struct keep<meta::type_list<P...>, T, Rest...>
      : keep<std::conditional_t<processor_traits<T>::is, meta::type_list<P..., T>, meta::type_list<P...>>, Rest...> {};

 public:
  using processors = typename keep<meta::type_list<>, About...>::type;
  static constexpr std::int64_t memory = read.memory;                ///< bytes
  static constexpr link inside = read.between;                       ///< between its processors
  using own_connection = typename first_connection<About...>::type;  ///< its own, or void
  /// The first mistake, and the number of the processor concerned, or the mistake of the connection.
  struct finding {
    cluster_mistake what = cluster_mistake::none;
    int which = 0;
  };
  static constexpr finding check = []<class... P>(meta::type_list<P...>) {
    if (read.wrong) return finding{cluster_mistake::not_a_board, 0};
    if (sizeof...(P) == 0) return finding{cluster_mistake::no_processor, 0};
    if (state_twice<About...>()) return finding{cluster_mistake::board_stated_twice, 0};
    if (read.of_connection != cluster_mistake::none)
      return finding{cluster_mistake::board_connection, static_cast<int>(read.of_connection)};
    if (read.has_memory && memory <= 0) return finding{cluster_mistake::ram_not_positive, 0};
    if (memory >= too_many_bytes) return finding{cluster_mistake::ram_too_large, 0};
    int k = -1;
    for (const auto found : {cluster_mistake::none, processor_traits<P>::check...}) {
      if (found != cluster_mistake::none) return finding{found, k};
      ++k;
    }
    for (const bool own : {true, processor_traits<P>::value.own_memory...})
      if (!own && memory == 0) return finding{cluster_mistake::ram_missing, 0};
    return finding{};
  }(processors{});
  /// Its processors as values; memory is the board's where a processor has none of its own.
  static constexpr auto values = []<class... P>(meta::type_list<P...>) {
    std::array<processor_info, sizeof...(P)> out{processor_traits<P>::value...};
    for (auto& p : out)
      if (!p.own_memory) p.memory = memory;
    return out;
  }(processors{});
};

}  // namespace platform
}  // namespace dice
