// Boards, connections and clusters as values, and all their mistakes.
#include "dice/platform/platform.hpp"

#include <gtest/gtest.h>

namespace {

using namespace dice;
using platform::cluster_mistake;

using pi = board<"pi", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<13.6>, gbytes_per_s<4>, watts<6, 2.5>>>;
using jetson = board<"jetson", ram<8_GiB>, processor<cores<0, 1>, gflops<10>, gbytes_per_s<8>>,
                     processor<gpu, gflops<800>, gbytes_per_s<50>, ram<2_GiB>>, connection<gbytes_per_s<6>, us<5>>>;
using everywhere = connection<mbit_per_s<940>, us<150>>;
using lab = cluster<host<"pi-a", pi>, host<"pi-b", pi>, host<"jetson", jetson>, everywhere,
                    connection<between<"pi-a", "jetson">, mbit_per_s<95>, ms<0.3>>>;

constexpr auto view = platform::cluster_values<lab>::view;

TEST(cluster, has_hosts_processors_and_links) {
  static_assert(platform::cluster_traits<lab>::check.what == cluster_mistake::none);
  ASSERT_EQ(view.size(), 3);
  EXPECT_EQ(view.hosts[1].name, "pi-b");
  EXPECT_EQ(view.hosts[1].board, "pi");
  EXPECT_EQ(view.hosts[1].kind, 0);
  EXPECT_EQ(view.hosts[2].kind, 2);
  EXPECT_EQ(view.hosts[2].first_processor, 2);
  EXPECT_EQ(view.hosts[2].processors, 2);
  ASSERT_EQ(view.processors.size(), 4u);
  EXPECT_EQ(view.processors[0].flops, 13.6e9);
  EXPECT_EQ(view.processors[0].bytes_per_s, 4e9);
  EXPECT_EQ(view.processors[0].busy_watts, 6);
  EXPECT_EQ(view.processors[0].idle_watts, 2.5);
  EXPECT_EQ(view.processors[0].memory, 4_GiB);
  EXPECT_EQ(view.processors[2].memory, 8_GiB);
  EXPECT_EQ(view.processors[3].memory, 2_GiB);
  EXPECT_TRUE(view.processors[3].own_memory);
  EXPECT_EQ(view.host_of[3], 2);
}

TEST(cluster, takes_the_connection_that_names_both_hosts_before_that_of_every_pair) {
  EXPECT_EQ(view.between(0, 1).bytes_per_s, 940e6 / 8);
  EXPECT_EQ(view.between(0, 1).seconds, 150e-6);
  EXPECT_EQ(view.between(2, 0).bytes_per_s, 95e6 / 8);
  EXPECT_EQ(view.between(0, 2).seconds, 0.3e-3);
  EXPECT_EQ(view.between(1, 2).bytes_per_s, 940e6 / 8);
  EXPECT_EQ(view.between(2, 2).bytes_per_s, 6e9);  // within the board
  EXPECT_EQ(view.between(0, 0), platform::shared_memory);
}

TEST(link, takes_latency_for_each_message_and_time_for_each_byte) {
  constexpr platform::link l{.bytes_per_s = 1e6, .seconds = 0.5};
  static_assert(l.time(2'000'000, 3) == 3.5);
  static_assert(platform::link{}.time(1, 1) == std::numeric_limits<double>::infinity());
}

TEST(rate, is_one_type_whether_whole_or_not) {
  static_assert(std::is_same_v<gflops<24>, gflops<24.0>>);
  static_assert(!std::is_same_v<gflops<24>, gflops<24.5>>);
}

template <class Cluster> constexpr platform::cluster_finding finding = platform::cluster_traits<Cluster>::check;
template <class... Board> using of_boards = cluster<host<"a", pi>, host<"b", Board...>, everywhere>;

template <class Cluster> constexpr bool is(cluster_mistake what, int where = 0, int which = 0) {
  constexpr auto f = finding<Cluster>;
  return f.what == what && f.where == where && f.which == which;
}

using cpu_at_1 = processor<cpu, gflops<1>, gbytes_per_s<1>>;

TEST(cluster, finds_each_mistake) {
  using enum cluster_mistake;
  static_assert(is<int>(not_a_cluster));
  static_assert(is<cluster<>>(not_a_cluster));
  static_assert(is<cluster<host<"a", pi>, int>>(not_a_cluster, 1));
  static_assert(is<of_boards<int>>(not_a_board, 1));
  static_assert(is<of_boards<board<"b", ram<1>, int, cpu_at_1>>>(not_a_board, 1));
  static_assert(is<of_boards<board<"b", ram<1>>>>(no_processor, 1));
  static_assert(is<of_boards<board<"b", ram<1>, cpu_at_1, processor<int, gflops<1>, gbytes_per_s<1>>>>>(wrong_unit, 1, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<1>, int>>>>(wrong_unit, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cores<0, 0>, gflops<1>, gbytes_per_s<1>>>>>(wrong_unit, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>>>>>(rate_missing, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cpu, gflops<0>, gbytes_per_s<1>>>>>(rate_not_positive, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<-1>>>>>(rate_not_positive, 1));
  static_assert(
      is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<1>, watts<1, 2>>>>>(rate_not_positive, 1));
  static_assert(is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1e15>, gbytes_per_s<1>>>>>(rate_too_large, 1));
  static_assert(
      is<of_boards<board<"b", ram<1>, cpu_at_1, processor<cpu, gflops<1>, gbytes_per_s<1e15>>>>>(rate_too_large, 1, 1));
  static_assert(
      is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<1>, watts<1e15, 1>>>>>(rate_too_large, 1));
  static_assert(
      is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<1>, sending<us<1e12>, mbit_per_s<1>>>>>>(
          rate_too_large, 1));
  static_assert(
      is<of_boards<board<"b", ram<1>, processor<cpu, gflops<999e12>, gbytes_per_s<999e12>, watts<999e12, 0>>>>>(none));
  static_assert(is<of_boards<board<"b", cpu_at_1>>>(ram_missing, 1));
  static_assert(is<of_boards<board<"b", ram<-1>, cpu_at_1>>>(ram_not_positive, 1));
  static_assert(is<of_boards<board<"b", processor<cpu, gflops<1>, gbytes_per_s<1>, ram<0>>>>>(ram_not_positive, 1));
  static_assert(is<of_boards<board<"b", ram<17179869185_GiB>, cpu_at_1>>>(ram_too_large, 1));
  static_assert(
      is<of_boards<board<"b", processor<cpu, gflops<1>, gbytes_per_s<1>, ram<8589934592_GiB>>>>>(ram_too_large, 1));
  static_assert(is<of_boards<board<"b", ram<8589934591_GiB>, cpu_at_1>>>(none));
  static_assert(is<cluster<host<"a", pi>, host<"", pi>, everywhere>>(host_unnamed, 1));
  static_assert(is<cluster<host<"a", pi>, host<"b", pi>, host<"a", jetson>, everywhere>>(host_twice, 0, 2));
  static_assert(is<cluster<host<"a", pi>, connection<between<"a", "c">, mbit_per_s<1>>>>(unknown_host));
  static_assert(is<cluster<host<"a", pi>, everywhere, connection<between<"a", "a">, mbit_per_s<1>>>>(unknown_host, 1));
  static_assert(is<cluster<host<"a", pi>, connection<us<1>>>>(connection_rate_not_positive));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<0>>>>(connection_rate_not_positive));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<1>, us<-1>>>>(connection_rate_not_positive));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<1>, us<0>>>>(none));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<1>, int>>>(not_a_connection));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<1e15>>>>(connection_rate_too_large));
  static_assert(is<cluster<host<"a", pi>, connection<gbytes_per_s<1e15>>>>(connection_rate_too_large));
  static_assert(is<cluster<host<"a", pi>, connection<mbit_per_s<1>, ms<1e9>>>>(connection_rate_too_large));
  static_assert(is<cluster<host<"a", pi>, connection<gbytes_per_s<999e12>, ms<999e6>>>>(none));
  static_assert(is<cluster<host<"a", pi>, everywhere, everywhere>>(connection_twice, 0, 1));
  static_assert(is<cluster<host<"a", pi>, host<"b", pi>, connection<between<"a", "b">, mbit_per_s<1>>,
                           connection<between<"b", "a">, mbit_per_s<1>>>>(connection_twice, 0, 1));
  static_assert(is<cluster<host<"a", pi>, host<"b", pi>, host<"c", pi>, connection<between<"a", "b">, mbit_per_s<1>>>>(
      no_connection, 0, 2));
  static_assert(is<cluster<host<"a", pi>>>(none));  // one host needs no network
}

template <class... About> constexpr bool twice() {
  return is<of_boards<board<"b", ram<1>, processor<cpu, gflops<1>, gbytes_per_s<1>, About...>>>>(
      cluster_mistake::stated_twice, 1);
}
template <class... About> constexpr bool connected_twice() {
  return is<cluster<host<"a", pi>, host<"b", pi>, connection<mbit_per_s<1>, us<1>, About...>>>(
      cluster_mistake::connection_stated_twice);
}

TEST(cluster, finds_what_is_stated_twice) {
  using enum cluster_mistake;
  static_assert(twice<gflops<1>>() && twice<gflops<2>>() && twice<gbytes_per_s<2>>());
  static_assert(twice<watts<2, 1>, watts<3>>() && twice<ram<1>, ram<2>>() && twice<profile<int>, profile<int>>());
  using small = sending<mbit_per_s<1>, us<1>>;
  static_assert(twice<small, small>() && twice<sending<mbit_per_s<1>, gbytes_per_s<1>>>() &&
                twice<sending<mbit_per_s<1>, us<1>, ms<1>>>());
  static_assert(twice<receiving<mbit_per_s<1>, us<1>>, receiving<mbit_per_s<1>>>());
  static_assert(!twice<watts<2, 1>, ram<1>, small, receiving<mbit_per_s<1>>, direct_convolutions>());
  static_assert(is<of_boards<board<"b", ram<1>, ram<2>, cpu_at_1>>>(board_stated_twice, 1));
  using inside = connection<gbytes_per_s<1>>;
  static_assert(is<of_boards<board<"b", ram<1>, inside, cpu_at_1, inside>>>(board_stated_twice, 1));
  static_assert(is<of_boards<board<"b", ram<1>, inside, cpu_at_1, cpu_at_1>>>(none));
  static_assert(is<of_boards<board<"b", ram<1>, connection<between<"a", "b">, mbit_per_s<1>>, cpu_at_1>>>(
      board_connection, 1, static_cast<int>(not_a_connection)));
  static_assert(is<of_boards<board<"b", ram<1>, connection<gbytes_per_s<1>, us<1>, us<1>>, cpu_at_1>>>(
      board_connection, 1, static_cast<int>(connection_stated_twice)));
  static_assert(connected_twice<mbit_per_s<2>>() && connected_twice<gbytes_per_s<1>>() && connected_twice<ms<1>>());
  static_assert(connected_twice<between<"a", "b">, between<"b", "a">>());
  static_assert(!connected_twice<between<"a", "b">>());
}

TEST(bytes, are_never_fewer_than_they_say) {
  static_assert(0_GiB == 0 && 1_KiB == 1024 && 3_MiB == 3145728 && 2_GiB == 2147483648);
  static_assert(9007199254740991_KiB == 9223372036854774784 && 9007199254740992_KiB == platform::too_many_bytes);
  static_assert(8796093022207_MiB == 9223372036853727232 && 8796093022208_MiB == platform::too_many_bytes);
  static_assert(8589934591_GiB == 9223372035781033984 && 8589934592_GiB == platform::too_many_bytes);
  static_assert(18446744073709551615_KiB == platform::too_many_bytes);
}

TEST(boards, are_right) {
  using all = cluster<host<"1", boards::raspberry_pi_4>, host<"2", boards::raspberry_pi_5>, host<"3", boards::jetson_nano>,
                      host<"4", boards::jetson_tx2>, host<"5", boards::jetson_xavier_nx>,
                      host<"6", boards::jetson_orin_nano>, host<"7", boards::x86>, everywhere>;
  static_assert(is<all>(cluster_mistake::none));
  for (const auto& p : platform::cluster_values<all>::view.processors) EXPECT_TRUE(p.has_watts);
}

}  // namespace
