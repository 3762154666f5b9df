// best_mapping: against all mappings of the network `sample`.
#include "brute_force.hpp"
#include "cost/two_hosts.hpp"
#include "dice/partition/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace {

using namespace two_hosts;
namespace part = dice::partition;

/// The best of all cuts in two and of each host by itself.
template <class Value> double best_of_all(Value value) {
  double best = std::min(value(predicted<net, mapping<dev<0, cpu, on<"s">>, layers<all>>, two>),
                         value(predicted<net, mapping<dev<0, cpu, on<"q">>, layers<all>>, two>));
  [&]<int... K>(std::integer_sequence<int, K...>) {
    ((best = std::min({best, value(predicted<net, cut<K + 1, dev<0, cpu, on<"s">>, dev<1, cpu, on<"q">>>, two>),
                       value(predicted<net, cut<K + 1, dev<0, cpu, on<"q">>, dev<1, cpu, on<"s">>>, two>)})),
     ...);
  }
  (std::make_integer_sequence<int, net::size - 1>{});
  return best;
}

TEST(best_mapping, is_as_good_as_the_best_of_all_cuts) {
  const auto period = [](const cost::prediction& p) { return p.period; };
  const auto latency = [](const cost::prediction& p) { return p.latency; };
  const auto energy = [](const cost::prediction& p) { return p.energy; };
  EXPECT_DOUBLE_EQ((predicted<net, dice::best_mapping<net, two, whole_layers>, two>.period), best_of_all(period));
  EXPECT_DOUBLE_EQ((predicted<net, dice::best_mapping<net, two, dice::latency, whole_layers>, two>.latency),
                   best_of_all(latency));
  EXPECT_DOUBLE_EQ((predicted<net, dice::best_mapping<net, two, dice::energy, whole_layers>, two>.energy),
                   best_of_all(energy));
}

template <class... W> using best = dice::best_mapping<net, two, whole_layers, W...>;

TEST(best_mapping, is_a_mapping_as_if_written_by_hand) {
  static_assert(
      std::is_same_v<best<dice::latency>, mapping<dev<0, cores<0, 1>, on<"q">>, layers<range<at<0>, at<net::size - 1>>>>>);
  static_assert(placement::found<net, best<throughput>>.what == placement::mistake::none);
}

template <class Error> using none = error::no_mapping<Error>;

TEST(best_mapping, keeps_to_limits_or_says_which_one_it_cannot) {
  constexpr auto fastest = predicted<net, best<throughput>, two>;
  static_assert(predicted<net, best<energy, at_least_fps<fastest.throughput * 0.9>>, two>.throughput >=
                fastest.throughput * 0.9);
  static_assert(
      std::is_same_v<best<throughput, at_least_fps<1e6>>,
                     none<error::no_mapping_within<at_least_fps<1e6>, at_least_fps<part::rounded(fastest.throughput, false)>,
                                                   remedy::relax_this_limit_or_add_devices>>>);
  constexpr auto quickest = predicted<net, best<dice::latency>, two>;
  static_assert(
      std::is_same_v<best<throughput, at_most_latency<us<1>>>,
                     none<error::no_mapping_within<at_most_latency<ms<1e-6 * 1e3>>,
                                                   at_most_latency<ms<part::rounded(quickest.latency * 1e3, true)>>,
                                                   remedy::relax_this_limit_or_add_devices>>>);
  // Memory is the plan's. The search may underestimate it; then it tries again with a lower limit.
  constexpr auto smallest = predicted<net, best<peak_memory>, two>;
  using tight = best<throughput, memory_limit<smallest.memory>>;
  static_assert(predicted<net, tight, two>.memory <= smallest.memory);
}

/// Checks that the search at run time finds what best_mapping does; returns how many searches that took.
template <class Cluster, class... W> int same_at_run_time() {
  using map = dice::best_mapping<net, Cluster, whole_layers, W...>;
  constexpr auto& wanted = placement::of<net, map>;
  constexpr auto expected = predicted<net, map, Cluster>;
  const auto& setting = cost::setting_of<net, Cluster>;
  const auto found = part::find_best(setting, part::request_of<W...>(setting.cluster.hosts));
  EXPECT_TRUE(std::equal(wanted.owner.begin(), wanted.owner.end(), found.ranks.owner.begin(), found.ranks.owner.end()));
  EXPECT_EQ(found.ranks.devices.size(), static_cast<int>(wanted.devices.size()));
  for (std::size_t r = 0; r < wanted.devices.size(); ++r)
    EXPECT_EQ(wanted.devices[r].host, setting.cluster.hosts[found.ranks.devices[static_cast<int>(r)]].name);
  EXPECT_EQ(expected.memory, found.expected.memory);
  // The search relays tensors from stage to stage; the plan sends them straight to their readers.
  EXPECT_LE(expected.latency, found.expected.latency + 1e-12);
  EXPECT_DOUBLE_EQ(expected.throughput, found.expected.throughput);
  EXPECT_DOUBLE_EQ(expected.energy, found.expected.energy);
  return found.rounds;
}

TEST(find_best, finds_what_best_mapping_does) {
  EXPECT_EQ((same_at_run_time<two>()), 1);
  EXPECT_EQ((same_at_run_time<two, energy, at_least_fps<20000>>()), 1);
  // Less than the fastest mapping needs, which may be more than the search assumes; sizes differ between processors.
  constexpr auto room =
      std::max(predicted<net, best<peak_memory>, two>.memory, predicted<net, best<dice::latency>, two>.memory - 1);
  using tight_slow = board<"slow", ram<room>, processor<cores<0, 1, 2, 3>, gflops<1>, gbytes_per_s<1>, watts<3, 1>>>;
  using tight_quick = board<"quick", ram<room>, processor<cores<0, 1>, gflops<3>, gbytes_per_s<2>, watts<8, 2>>>;
  using tight = cluster<host<"s", tight_slow>, host<"q", tight_quick>, wire>;
  same_at_run_time<tight, dice::latency>();
  same_at_run_time<tight, energy>();
  same_at_run_time<tight, dice::latency, repeats>();
  same_at_run_time<two, dice::latency, memory_limit<room>>();
  same_at_run_time<tight, throughput>();
  same_at_run_time<tight, peak_memory, in_order>();
  same_at_run_time<two, output_at<"s">, dice::latency>();
  same_at_run_time<two, input_at<"q">, output_at<"q">, repeats>();
  same_at_run_time<two, energy, input_at<"s">, output_at<"q">>();
  same_at_run_time<two, fewest_devices<50>>();
  same_at_run_time<two, fewest_devices<1>, memory_limit<room>>();
}

TEST(best_mapping, leaves_inputs_and_outputs_to_their_hosts) {
  // A host may have nothing but the input, or the output.
  static_assert(std::is_same_v<best<dice::latency, input_at<"s">, output_at<"q">>,
                               mapping<dev<0, cores<0, 1, 2, 3>, on<"s">>, layers<at<0>>, dev<1, cores<0, 1>, on<"q">>,
                                       layers<range<at<1>, at<net::size - 1>>>>>);
  static_assert(std::is_same_v<best<dice::latency, input_at<"s">, output_at<"s">>,
                               mapping<dev<0, cores<0, 1, 2, 3>, on<"s">>, layers<range<at<0>, at<net::size - 1>>>>>);
}

/// Of the four hosts of this cluster, some pairs have a bad connection. A tensor of net is read by the next two stages.
template <int Speed>
using fast_board = board<"f", ram<1_GiB>, processor<cpu, gflops<8 * Speed>, gbytes_per_s<Speed>, watts<3, 1>>>;
template <meta::fixed_string A, meta::fixed_string B> using bad = connection<between<A, B>, mbit_per_s<5>, us<200>>;
using distant =
    cluster<host<"a", fast_board<4>>, host<"b", fast_board<1>>, host<"c", fast_board<8>>, host<"d", fast_board<2>>,
            connection<gbytes_per_s<10>, us<0.1>>, bad<"a", "c">, bad<"b", "c">, bad<"a", "d">>;
template <class... W> constexpr auto among_distant = predicted<net, dice::best_mapping<net, distant, W...>, distant>;

TEST(best_mapping, knows_over_which_connections_tensors_go) {
  constexpr auto alone = predicted<net, mapping<dev<0, cpu, on<"c">>, layers<all>>, distant>;
  static_assert(among_distant<throughput, whole_layers>.throughput >= alone.throughput);
  static_assert(among_distant<throughput>.throughput >= alone.throughput);
  static_assert(among_distant<dice::latency, whole_layers>.latency <= alone.latency);
  static_assert(among_distant<dice::latency, whole_layers, at_least_fps<alone.throughput * 0.9>>.throughput >=
                alone.throughput * 0.9);
  static_assert(among_distant<at_least_fps<alone.throughput * 0.9>, kinds<rows>>.throughput >= alone.throughput * 0.9);
  // Nothing is as fast as the search for relayed tensors counts.
  const auto relayed = part::search(cost::problem_of(cost::setting_of<net, distant>), {}).best.expected;
  EXPECT_GT(relayed.throughput, (among_distant<throughput, whole_layers>.throughput));
  same_at_run_time<distant>();
  same_at_run_time<distant, dice::latency, at_least_fps<alone.throughput * 0.9>>();
  same_at_run_time<distant, fewest_devices<20>>();
}

/// Without a limit of the period, bounds of latency need no time that later devices have.
TEST(sum_rest, is_a_constant_without_limits) {
  constexpr double least = [] {
    const auto p = cost::problem_of(cost::setting_of<net, two>);
    const auto r = part::routes_of(p, false, part::max_routes, 2);
    return part::detail::sum_rest(p, r, part::detail::transfers_of(p, r),
                                  part::detail::bounds(p, {}, false).before(part::objective::latency), cost::infinity,
                                  part::objective::latency, 0, cost::infinity)
        .whole();
  }();
  EXPECT_DOUBLE_EQ(least, (predicted<net, best<dice::latency>, two>.latency));
}

TEST(find_best, uses_the_fewest_devices_that_are_good_enough) {
  using lab = cluster<host<"s", slow>, host<"q", quick>, host<"t", slow>, connection<gbytes_per_s<5>, us<0.1>>>;
  const auto& setting = cost::setting_of<net, lab>;
  const auto p = cost::problem_of(setting);
  int fewer = 0;
  for (const auto best : {part::objective::throughput, part::objective::energy, part::objective::peak_memory}) {
    std::map<int, double> least;  // by number of devices
    test::each_mapping(p, false, false, [&](const auto& stages) {
      const auto at = least.try_emplace(test::devices_in(stages), cost::infinity).first;
      at->second = std::min(at->second, part::value_of(best, cost::predict(p, stages)));
    });
    for (const double percent : {0.0, 5.0, 20.0, 30.0, 60.0, 100.0}) {
      const auto found = part::find_best(setting, {.aim = {.best = best}, .percent = percent});
      double value = cost::infinity;
      for (const auto& [devices, of] : least) value = std::min(value, of);
      // Throughput is the inverse of its value.
      const double most = best == part::objective::throughput ? value / (1 - percent / 100) : value * (1 + percent / 100);
      const auto wanted =
          std::find_if(least.begin(), least.end(), [&](const auto& of) { return of.second <= most * (1 + 1e-9); });
      EXPECT_EQ(found.ranks.devices.size(), wanted->first) << percent << " % of objective " << static_cast<int>(best);
      EXPECT_DOUBLE_EQ(part::value_of(best, found.counted), wanted->second);
      fewer += wanted->second > value * (1 + 1e-9);
    }
  }
  EXPECT_GT(fewer, 3);
}

TEST(find_best, tells_limits_that_can_be_kept) {
  const auto& setting = cost::setting_of<net, two>;
  int told = 0;
  for (const auto objective : {part::objective::throughput, part::objective::latency, part::objective::energy})
    for (const bool repeats : {false, true})
      for (std::int64_t bytes = 2000; bytes < 20000; bytes += 900) {
        part::request r{.aim = {.best = objective, .repeats = repeats}, .memory = bytes};
        auto found = part::find_best(setting, r);
        if (!found.empty()) {
          EXPECT_LE(found.expected.memory, bytes);
          continue;
        }
        ASSERT_EQ(found.why.what, part::obstacle::memory);
        r.memory = static_cast<std::int64_t>(found.why.value);
        ++told;
        EXPECT_FALSE(part::find_best(setting, r).empty()) << bytes << " " << r.memory;
        r.aim.max_period = 1e-9;
        found = part::find_best(setting, r);
        ASSERT_EQ(found.why.what, part::obstacle::fps);
        r.aim.max_period = 1 / part::rounded(found.why.value, false);
        EXPECT_FALSE(part::find_best(setting, r).empty());
        r.aim.max_latency = 1e-9;
        found = part::find_best(setting, r);
        ASSERT_EQ(found.why.what, part::obstacle::latency);
        r.aim.max_latency = part::rounded(found.why.value, true);
        EXPECT_FALSE(part::find_best(setting, r).empty());
      }
  EXPECT_GT(told, 0);
  // The same at compile time.
  const auto why = part::find_best(setting, part::request_of<memory_limit<2000>>()).why;
  constexpr auto named = part::why_none(cost::setting_of<net, two>, cost::problem_of(cost::setting_of<net, two>),
                                        part::request_of<memory_limit<2000>>());
  EXPECT_EQ(why.value, named.value);
  static_assert(
      std::is_same_v<best<memory_limit<2000>>,
                     none<error::no_mapping_within<memory_limit<2000>, memory_limit<static_cast<std::int64_t>(named.value)>,
                                                   remedy::relax_this_limit_or_add_devices>>>);
}

TEST(find_best, takes_costs_that_were_changed) {
  const auto& setting = cost::setting_of<net, two>;
  auto p = cost::problem_of(setting);
  for (auto& kind : p.kinds)
    for (double& t : kind.seconds) t *= 2;
  cost::complete(p);
  part::request r;
  r.aim.best = part::objective::latency;
  EXPECT_NEAR(part::find_best(setting, p, r).expected.latency, 2 * part::find_best(setting, r).expected.latency, 1e-9);
}

TEST(best_mapping, names_mistakes) {
  using lonely = cluster<host<"a", slow>, host<"b", slow>>;
  static_assert(
      std::is_same_v<dice::best_mapping<net, lonely>,
                     none<error::hosts_without_connection<host<"a", slow>, host<"b", slow>,
                                                          remedy::add_a_connection_of_every_pair_or_between_these>>>);
  static_assert(std::is_same_v<dice::best_mapping<net, int>,
                               none<error::not_a_cluster<int, remedy::write_cluster_of_hosts_and_connections>>>);
  static_assert(std::is_same_v<best<int>, none<error::not_a_constraint<int, remedy::write_one_objective_and_limits>>>);
  static_assert(
      std::is_same_v<dice::best_mapping<net, two, at_least_fps<0>>,
                     none<error::limit_not_positive<meta::type_list<at_least_fps<0>>, remedy::give_limits_above_0>>>);
  using vast = memory_limit<8589934592_GiB>;
  static_assert(std::is_same_v<best<vast>, none<error::limit_too_large<vast, remedy::give_less_than_8_EiB>>>);
  static_assert(std::is_same_v<dice::best_mapping<net, profiled<of_another>>,
                               none<error::profile_of_another_network<of_another, net, remedy::profile_this_model_again>>>);
  static_assert(
      std::is_same_v<dice::best_mapping<net, profiled<incomplete>>,
                     none<error::profile_without_layer<incomplete, at<3>,
                                                       remedy::measure_a_plan_that_has_all_layers_on_this_kind_of_unit>>>);
  static_assert(std::is_same_v<best<dice::latency, at_least_fps<2>, energy>,
                               none<error::constraint_twice<dice::latency, energy, remedy::give_each_constraint_once>>>);
  static_assert(
      std::is_same_v<best<input_at<"s">, output_at<"z">>,
                     none<error::constraint_for_unknown_host<output_at<"z">, remedy::name_a_host_of_the_cluster>>>);
  static_assert(
      std::is_same_v<best<fewest_devices<-0.5>>,
                     none<error::percentage_out_of_range<fewest_devices<-0.5>, remedy::give_a_percentage_from_0_to_100>>>);
  using powerless = processor<cpu, gflops<1>, gbytes_per_s<1>>;
  static_assert(std::is_same_v<dice::best_mapping<net, cluster<host<"a", board<"x", ram<1>, powerless>>>, energy>,
                               none<error::watts_missing<powerless, remedy::give_each_processor_watts>>>);
}

/// A profile as onnx2hpp writes it.
template <meta::fixed_string Unit> struct measured_on : measured { static constexpr std::string_view unit = Unit.view(); };

TEST(best_mapping, compares_units_with_those_of_profiles) {
  using namespace part;
  constexpr auto other = []<class On>(std::string_view measured, On) {
    return cost::detail::other_unit(measured, platform::unit_traits<On>::value);
  };
  static_assert(other("cpu", gpu{}) && other("gpu", cpu{}) && other("gpu_at<1>, precision<tf32>", threads<1>{}));
  static_assert(other("threads<4>", cores<0, 1>{}) && other("cores<0, 1, 2>", threads<2>{}) &&
                other("cores<7>", cores<0, 1>{}));
  static_assert(other("threads<12>", threads<2>{}) && other("threads<99999999999999>", threads<2>{}));
  static_assert(!other("cpu", threads<4>{}) && !other("cores<0, 1>", cpu{}) && !other("threads<12>", threads<12>{}));
  static_assert(!other("cores<2, 3>", cores<0, 1>{}) && !other("threads<2>", cores<0, 1>{}) && !other("gpu_at<1>", gpu{}));
  static_assert(!other("", cpu{}) && !other("my board", gpu{}) && !other("cores<>", cores<0>{}));
  constexpr platform::unit direct{.direct = true}, plain{};
  static_assert(!cost::detail::other_unit("cpu, direct_convolutions", direct) && cost::detail::other_unit("cpu", direct));
  static_assert(cost::detail::other_unit("cpu, direct_convolutions", plain));
  static_assert(!cost::detail::other_unit("cores<0, 1>, direct_convolutions",
                                          {.what = platform::unit::kind::cores, .count = 2, .direct = true}));
  using four = processor<threads<4>, profile<measured_on<"cores<0, 1>">>>;
  static_assert(
      std::is_same_v<dice::best_mapping<net, cluster<host<"m", board<"m", ram<1_GiB>, four>>>>,
                     none<error::profile_of_another_unit<measured_on<"cores<0, 1>">, four,
                                                         remedy::give_the_profile_of_this_unit_or_name_the_unit_measured>>>);
  using fits = processor<threads<2>, profile<measured_on<"cores<0, 1>">>>;
  static_assert(part::detail::is_mapping<dice::best_mapping<net, cluster<host<"m", board<"m", ram<1_GiB>, fits>>>>>);
}

TEST(best_mapping, gives_ranks_the_direct_convolutions_of_their_processors) {
  using direct = processor<threads<2>, gflops<1>, gbytes_per_s<1>, direct_convolutions>;
  using one = cluster<host<"b", board<"b", ram<1_GiB>, direct>>>;
  static_assert(
      std::is_same_v<dice::best_mapping<net, one>,
                     mapping<dev<0, threads<2>, direct_convolutions, on<"b">>, layers<range<at<0>, at<net::size - 1>>>>>);
  same_at_run_time<one>();
  // A profile that was measured with other algorithms says nothing.
  using timed = processor<cpu, profile<measured_on<"cpu">>, direct_convolutions>;
  static_assert(
      std::is_same_v<dice::best_mapping<net, cluster<host<"m", board<"m", ram<1_GiB>, timed>>>>,
                     none<error::profile_of_another_unit<measured_on<"cpu">, timed,
                                                         remedy::give_the_profile_of_this_unit_or_name_the_unit_measured>>>);
}

template <class Cluster, class Error> constexpr bool fails = std::is_same_v<dice::best_mapping<net, Cluster>, none<Error>>;

TEST(best_mapping, names_mistakes_of_clusters) {
  using rated = processor<cpu, gflops<1>, gbytes_per_s<1>>;
  using no_board = host<"a", int>;
  static_assert(
      fails<cluster<no_board>, error::not_a_board<no_board, remedy::write_board_of_a_name_and_ram_and_processors>>);
  using empty = host<"a", board<"b", ram<1>>>;
  static_assert(fails<cluster<empty>, error::board_without_processor<empty, remedy::give_the_board_a_processor>>);
  using unit = processor<int, gflops<1>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, rated, unit>>>,
                      error::not_a_processor<unit, remedy::write_processor_of_a_unit_and_its_rates_or_a_profile>>);
  using half = processor<cpu, gflops<1>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, half>>>,
                      error::rate_missing<half, remedy::give_gflops_and_gbytes_per_s_or_a_profile>>);
  using negative = processor<cpu, gflops<1>, gbytes_per_s<-1>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, negative>>>,
                      error::rate_not_positive<negative, remedy::give_rates_above_0_and_no_more_idle_than_busy_watts>>);
  using mute = processor<cpu, gflops<1>, gbytes_per_s<1>, sending<us<3>>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, mute>>>,
                      error::rate_not_positive<mute, remedy::give_rates_above_0_and_no_more_idle_than_busy_watts>>);
  using to_some = processor<cpu, gflops<1>, gbytes_per_s<1>, receiving<between<"a", "b">, gbytes_per_s<1>>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, to_some>>>,
                      error::not_a_processor<to_some, remedy::write_processor_of_a_unit_and_its_rates_or_a_profile>>);
  using without = host<"a", board<"b", rated>>;
  static_assert(fails<cluster<without>, error::ram_missing<without, remedy::give_the_board_its_ram>>);
  using a = host<"a", slow>;
  using second = host<"a", quick>;
  static_assert(fails<cluster<a, second, wire>, error::host_twice<a, second, remedy::give_each_host_a_name_of_its_own>>);
  using below_zero = host<"a", board<"b", ram<-1>, rated>>;
  static_assert(fails<cluster<below_zero>, error::ram_not_positive<below_zero, remedy::give_a_positive_number_of_bytes>>);
  using huge = host<"a", board<"b", ram<17179869185_GiB>, rated>>;
  static_assert(fails<cluster<huge>, error::ram_too_large<huge, remedy::give_less_than_8_EiB>>);
  using nameless = host<"", slow>;
  static_assert(fails<cluster<nameless>, error::host_without_name<nameless, remedy::give_each_host_a_name_of_its_own>>);
  using once = remedy::state_each_speed_time_and_memory_once;
  using fast_and_slow = processor<cpu, gflops<1>, gbytes_per_s<1>, gflops<2>>;
  static_assert(fails<cluster<host<"a", board<"b", ram<1>, fast_and_slow>>>, error::stated_twice<fast_and_slow, once>>);
  using small_and_large = host<"a", board<"b", ram<1>, rated, ram<2>>>;
  static_assert(fails<cluster<small_and_large>, error::stated_twice<small_and_large, once>>);
  using early_and_late = connection<mbit_per_s<1>, us<1>, ms<1>>;
  static_assert(fails<cluster<a, early_and_late>, error::stated_twice<early_and_late, once>>);
  using to_nobody = connection<between<"a", "z">, mbit_per_s<1>>;
  static_assert(fails<cluster<a, to_nobody>,
                      error::connection_of_unknown_host<to_nobody, remedy::name_two_different_hosts_of_the_cluster>>);
  using still = connection<mbit_per_s<0>>;
  static_assert(
      fails<cluster<a, still>,
            error::connection_rate_not_positive<still, remedy::give_connections_a_speed_above_0_and_no_negative_time>>);
  using endless = connection<mbit_per_s<1>, ms<1e9>>;
  static_assert(fails<cluster<a, endless>,
                      error::connection_rate_too_large<endless, remedy::give_rates_below_1e15_and_times_below_1e6_s>>);
  using of_words = connection<mbit_per_s<1>, int>;
  static_assert(
      fails<cluster<a, of_words>, error::not_a_connection<of_words, remedy::write_connection_of_a_speed_and_a_latency>>);
  // The same mistakes in a board.
  static_assert(
      fails<cluster<host<"a", board<"b", ram<1>, rated, still>>>,
            error::connection_rate_not_positive<still, remedy::give_connections_a_speed_above_0_and_no_negative_time>>);
  static_assert(fails<cluster<a, wire, wire>, error::connection_twice<wire, wire, remedy::state_each_connection_once>>);
#ifndef DICE_WITH_CUDNN
  using mixed = cluster<host<"c", slow>, host<"a", board<"g", ram<1>, processor<gpu, gflops<1>, gbytes_per_s<1>>>>, wire>;
  static_assert(
      std::is_same_v<
          dice::best_mapping<net, mixed, input_at<"a">>,
          none<error::no_usable_processor<input_at<"a">, remedy::build_with_the_backend_of_a_processor_of_the_cluster>>>);
  using gpus = cluster<host<"a", board<"g", ram<1>, processor<gpu, gflops<1>, gbytes_per_s<1>>>>>;
  static_assert(fails<gpus, error::no_usable_processor<gpus, remedy::build_with_the_backend_of_a_processor_of_the_cluster>>);
#endif
}

/// A board that differs from all others.
template <int K> using unlike = board<"u", ram<1_GiB>, processor<cpu, gflops<1 + K>, gbytes_per_s<1>>>;

TEST(best_mapping, refuses_to_try_the_orders_of_too_many_kinds_of_hosts) {
  using many = cluster<host<"0", unlike<0>>, host<"1", unlike<1>>, host<"2", unlike<2>>, host<"3", unlike<3>>,
                       host<"4", unlike<4>>, host<"5", unlike<5>>, host<"6", unlike<6>>, host<"7", unlike<7>>,
                       host<"8", unlike<8>>, host<"9", unlike<9>>, host<"10", unlike<10>>, host<"11", unlike<11>>, wire>;
  static_assert(std::is_same_v<dice::best_mapping<net, many, whole_layers>,
                               none<error::too_many_kinds_of_hosts<many, remedy::give_the_order_with_in_order>>>);
  static_assert(part::detail::is_mapping<dice::best_mapping<net, many, whole_layers, in_order>>);
  static_assert(part::detail::is_mapping<dice::best_mapping<net, many>>);  // not all orders, but some
}

}  // namespace
