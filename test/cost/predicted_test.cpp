// Cut units and costs of a network, and predictions of its mappings: against numbers computed by hand.
#include "two_hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace two_hosts;

TEST(roofline, is_the_longer_of_computing_and_moving) {
  constexpr auto& view = graph::view_of<net>;
  constexpr platform::processor_info on{.flops = 2, .bytes_per_s = 5};
  // conv1: 4 channels of 8 × 8 of 3 · 3 · 3 products; reads 3 · 8 · 8, 4 · 3 · 9 weights and 4 biases, writes 4 · 8 · 8.
  constexpr double macs = 4 * 8 * 8 * 27, bytes = 4 * (192 + 108 + 4 + 256);
  static_assert(view.layers[1].macs == macs);
  static_assert(cost::moved_bytes(view, 1) == bytes);
  static_assert(cost::roofline_seconds(view, 1, on) == 2 * macs / 2);
  // relu1: reads its input and writes its output.
  static_assert(cost::roofline_seconds(view, 2, on) == 4 * (256 + 256) / 5.0);
  // Graph inputs, views, and Concats with all operands in place cost nothing.
  static_assert(cost::roofline_seconds(view, 0, on) == 0 && cost::roofline_seconds(view, 9, on) == 0);
}

TEST(cut_units, are_what_one_kernel_computes) {
  const cost::problem p = cost::problem_of(cost::setting_of<net, two>);
  // conv1 and relu1 form one cut unit, and conv2, add1 and relu2; each other layer is a cut unit.
  EXPECT_EQ(p.cut_unit_of[1], p.cut_unit_of[2]);
  EXPECT_EQ(p.cut_unit_of[3], p.cut_unit_of[5]);
  EXPECT_EQ(p.cut_units, net::size - 3);
  // Between conv1 and conv2 relu1's result crosses once, though two layers read it.
  EXPECT_EQ(p.crossing[p.cut_unit_of[3]], 4 * 256);
  EXPECT_EQ(p.messages[p.cut_unit_of[3]], 1);
  // After pool1 the tensor that pool2 reads crosses, too.
  EXPECT_EQ(p.crossing[p.cut_unit_of[7]], 4 * (64 + 256));
  EXPECT_EQ(p.messages[p.cut_unit_of[7]], 2);
  EXPECT_EQ(p.crossing[0], 0);
  EXPECT_EQ(p.crossing[p.cut_units], 0);
  // Fused layers cost nothing extra.
  const auto& s = cost::setting_of<net, two>;
  const auto& c = p.kinds[0];
  EXPECT_EQ(c.seconds[p.cut_unit_of[1] + 1] - c.seconds[p.cut_unit_of[1]], s.seconds[0][1]);
}

TEST(problem, has_equal_hosts_whose_boards_and_connections_are_the_same) {
  const auto alike = []<class Cluster>(Cluster) {
    cost::problem p;
    cost::set_hosts(p, platform::cluster_values<Cluster>::view);
    return std::vector<int>(p.host_kind.begin(), p.host_kind.end());
  };
  using all = connection<mbit_per_s<940>, us<150>>;
  using a = host<"a", slow>;
  using b = host<"b", slow>;
  EXPECT_EQ(alike(cluster<a, b, host<"c", quick>, all>{}), (std::vector{0, 0, 2}));
  // A connection to a host after them, one between the two, and one to a host before them.
  EXPECT_EQ(alike(cluster<a, b, host<"c", quick>, all, connection<between<"b", "c">, mbit_per_s<10>, us<150>>>{}),
            (std::vector{0, 1, 2}));
  EXPECT_EQ(alike(cluster<a, b, host<"c", quick>, all, connection<between<"a", "b">, mbit_per_s<10>, us<150>>>{}),
            (std::vector{0, 0, 2}));
  EXPECT_EQ(alike(cluster<host<"c", quick>, a, b, all, connection<between<"b", "c">, mbit_per_s<10>, us<150>>>{}),
            (std::vector{0, 1, 2}));
}

TEST(predicted, follows_its_equations) {
  const auto& s = cost::setting_of<net, two>;
  const double before = s.seconds[0][1], x = 1e-6 + 4 * 256 / 0.5e9;
  double after = 0;
  for (std::size_t l : {3, 6, 7, 8, 10}) after += s.seconds[1][l];
  constexpr auto p = predicted<net, cut<3>, two>;
  const double period = std::max({before, x, after});
  EXPECT_DOUBLE_EQ(p.latency, before + x + after);
  EXPECT_DOUBLE_EQ(p.throughput, 1 / period);
  EXPECT_DOUBLE_EQ(p.energy, 3 * before + 1 * (period - before) + 8 * after + 2 * (period - after));
  constexpr auto& plan = schedule::plan_of<net, cut<3>>;
  EXPECT_EQ(p.memory, std::max(plan.ranks[0].peak_bytes, plan.ranks[1].peak_bytes));
}

TEST(predicted, counts_what_messages_take_of_processors) {
  using sender = board<"s", ram<1_GiB>,
                       processor<cpu, gflops<1>, gbytes_per_s<1>, watts<3, 1>,  //
                                 sending<us<70>, mbit_per_s<16>>, receiving<us<9>, gbytes_per_s<1>>>>;
  using receiver = board<"q", ram<1_GiB>,
                         processor<cpu, gflops<3>, gbytes_per_s<2>, watts<8, 2>,  //
                                   sending<us<9>, gbytes_per_s<1>>, receiving<ms<0.03>, mbit_per_s<32>>>>;
  using cable = connection<mbit_per_s<10>, us<100>>;  // as measured end to end, it includes what both ends take
  using pair = cluster<host<"s", sender>, host<"q", receiver>, cable>;
  constexpr auto without = predicted<net, cut<3>, cluster<host<"s", slow>, host<"q", quick>, cable>>;
  constexpr auto with = predicted<net, cut<3>, pair>;
  const auto& s = cost::setting_of<net, pair>;
  const double sends = 70e-6 + 4 * 256 / 2e6, receives = 30e-6 + 4 * 256 / 4e6;
  double before = s.seconds[0][1] + sends, after = receives;
  for (std::size_t l : {3, 6, 7, 8, 10}) after += s.seconds[1][l];
  const double period = std::max({before, after, 100e-6 + 4 * 256 / 1.25e6});
  EXPECT_DOUBLE_EQ(with.throughput, 1 / period);
  EXPECT_DOUBLE_EQ(with.latency, without.latency);
  EXPECT_DOUBLE_EQ(with.energy, 3 * before + 1 * (period - before) + 8 * after + 2 * (period - after));
  // Between ranks of one host messages cost no time.
  using place = on<"s">;
  EXPECT_EQ((predicted<net, cut<3, dev<0, cpu, place>, dev<1, cpu, place>>, pair>.throughput),
            (predicted<net, cut<3, dev<0, cpu, place>, dev<1, cpu, place>>, two>.throughput));
}

TEST(predicted, takes_hosts_in_order_or_by_name) {
  constexpr auto swapped = predicted<net, cut<3, dev<0, cpu, on<"q">>, dev<1, cpu, on<"s">>>, two>;
  constexpr auto plain = predicted<net, cut<3>, two>;
  EXPECT_NE(swapped.latency, plain.latency);
  EXPECT_DOUBLE_EQ((predicted<net, cut<3, dev<0, cpu>, dev<1, cpu, on<"q">>>, two>.latency), plain.latency);
}

TEST(predicted, takes_hosts_from_the_first_one_again) {
  const auto latency = []<class A, class B, class C>(A, B, C) {
    return predicted<net, mapping<A, layers<to<at<2>>>, B, layers<range<at<3>, at<6>>>, C, layers<from<at<7>>>>, two>.latency;
  };
  EXPECT_DOUBLE_EQ(latency(dev<0, cpu>{}, dev<1, cpu>{}, dev<2, cpu>{}),
                   latency(dev<0, cpu, on<"s">>{}, dev<1, cpu, on<"q">>{}, dev<2, cpu, on<"s">>{}));
  EXPECT_NE(latency(dev<0, cpu>{}, dev<1, cpu>{}, dev<2, cpu>{}),
            latency(dev<0, cpu>{}, dev<1, cpu>{}, dev<2, cpu, on<"q">>{}));
}

TEST(predicted, gives_a_unit_its_share_of_the_rates) {
  using one = cluster<host<"s", slow>>;
  constexpr double whole = predicted<net, mapping<dev<0, cpu>, layers<all>>, one>.latency;
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, cores<2>>, layers<all>>, one>.latency), 4 * whole);
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, threads<2>>, layers<all>>, one>.latency), 2 * whole);
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, threads<9>>, layers<all>>, one>.latency), whole);
  // Two processors: cpu has both.
  using pair = board<"pair", ram<1_GiB>, processor<cores<0, 1>, gflops<3>, gbytes_per_s<3>>,
                     processor<cores<2>, gflops<1>, gbytes_per_s<1>>>;
  using other = cluster<host<"p", pair>>;
  constexpr double both = predicted<net, mapping<dev<0, cpu>, layers<all>>, other>.latency;
  EXPECT_DOUBLE_EQ(both, whole / 4);
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, cores<2>>, layers<all>>, other>.latency), whole);
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, cores<1, 2>>, layers<all>>, other>.latency), whole / 2.5);
}

TEST(predicted, gives_a_processors_unit_its_own_rates) {
  using both =
      board<"both", ram<1_GiB>, processor<threads<4>, gflops<4>, gbytes_per_s<1>>,
            processor<threads<2>, gflops<8>, gbytes_per_s<2>>, processor<cores<0, 1>, gflops<2>, gbytes_per_s<0.5>>>;
  using one = cluster<host<"b", both>>;
  const auto of = []<class Unit>(Unit) { return predicted<net, mapping<dev<0, Unit>, layers<all>>, one>.latency; };
  const double four = of(threads<4>{});
  EXPECT_DOUBLE_EQ(of(threads<2>{}), four / 2);
  EXPECT_DOUBLE_EQ((of(cores<0, 1>{})), four * 2);
  EXPECT_DOUBLE_EQ(four,
                   (predicted<net, mapping<dev<0, cpu>, layers<all>>,
                              cluster<host<"b", board<"b", ram<1_GiB>, processor<threads<4>, gflops<4>, gbytes_per_s<1>>>>>>
                        .latency));
  static_assert(std::is_same_v<best_mapping<net, one, dice::latency, whole_layers>,
                               mapping<dev<0, threads<2>, on<"b">>, layers<range<at<0>, at<net::size - 1>>>>>);
}

TEST(predicted, takes_measured_times_where_there_is_a_profile) {
  EXPECT_DOUBLE_EQ((predicted<net, mapping<dev<0, cpu>, layers<all>>, profiled<measured>>.latency), 16e-3);
  // Profiles also give the costs of messages and the power, unless these are stated.
  constexpr auto of = []<class P>(P) { return platform::processor_traits<P>::value; };
  constexpr auto all = of(processor<cpu, profile<measured_messages>>{});
  static_assert(all.sending == platform::link{1e9} && all.receiving == platform::link{2e9, 1e-6});
  static_assert(all.has_watts && all.busy_watts == 4 && all.idle_watts == 3);
  using stated = dice::sending<gbytes_per_s<3>>;
  constexpr auto some = of(processor<cpu, stated, profile<measured_messages>, watts<7>>{});
  static_assert(some.sending == platform::link{3e9, 0} && some.receiving == all.receiving && some.busy_watts == 7);
  static_assert(of(processor<cpu, profile<measured_messages>, watts<7>, stated>{}).sending == some.sending);
}

}  // namespace
