// best_mapping with splits and replicas, at compile time.
#include "dice/partition/partition.hpp"

#include "dice/algorithm/table.hpp"
#include "dice/cost/evaluator.hpp"
#include "dice/partition/mix.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/placement/text/write.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

using namespace dice;
using namespace dice::literals;
namespace part = dice::partition;
using net = sample::network;

using slow = board<"slow", ram<1_GiB>, processor<threads<1>, gflops<1>, gbytes_per_s<1>, watts<3, 1>>>;
using quick = board<"quick", ram<1_GiB>, processor<threads<1>, gflops<3>, gbytes_per_s<3>, watts<8, 2>>>;
using wire = connection<gbytes_per_s<50>, us<0.01>>;
using four = cluster<host<"a", slow>, host<"b", slow>, host<"c", slow>, host<"d", slow>, wire>;
using unlike = cluster<host<"a", slow>, host<"b", quick>, host<"c", slow>, wire>;

/// The words for work in a mapping, as bits.
template <class Map> constexpr unsigned words_of() {
  unsigned out = 0;
  for (const auto& e : placement::written<net, Map>.entries)
    if (e.what == placement::entry::kind::work) out |= 1u << e.work.word;
  return out;
}
constexpr unsigned whole = 1;
template <class... W> constexpr unsigned bits_of(W... word) { return (whole | ... | part::bit_of_kind(word)); }

template <class Cluster, class... W> constexpr auto figures = predicted<net, best_mapping<net, Cluster, W...>, Cluster>;

TEST(best_mapping, splits_where_that_pays) {
  constexpr auto stages = figures<four, dice::latency, whole_layers>, mix = figures<four, dice::latency>;
  static_assert(words_of<best_mapping<net, four, dice::latency, whole_layers>>() == whole);
  static_assert(words_of<best_mapping<net, four, dice::latency>>() != whole);
  EXPECT_LT(mix.latency, stages.latency * 0.8);
  static_assert(placement::found<net, best_mapping<net, four, dice::latency>>.what == placement::mistake::none);
  constexpr auto many = figures<four>, many_stages = figures<four, whole_layers>;
  EXPECT_LT(many.period, many_stages.period * 0.97);
  // Where messages take long, nothing is split.
  using far = cluster<host<"a", slow>, host<"b", slow>, host<"c", slow>, host<"d", slow>, connection<mbit_per_s<10>, ms<5>>>;
  static_assert(std::is_same_v<best_mapping<net, far, dice::latency>, best_mapping<net, far, dice::latency, whole_layers>>);
}

TEST(best_mapping, splits_only_as_it_may) {
  using by_replicas = best_mapping<net, four, throughput, kinds<replicas>>;
  static_assert(words_of<by_replicas>() == bits_of("replicas"));
  static_assert((words_of<best_mapping<net, four, dice::latency, kinds<rows>>>() | whole) == bits_of("rows"));
  static_assert((words_of<best_mapping<net, four, dice::latency, kinds<columns, grid>>>() & ~bits_of("columns", "grid")) ==
                0);
  static_assert(std::is_same_v<best_mapping<net, four, dice::latency, no_split_of<all>>,
                               best_mapping<net, four, dice::latency, whole_layers>>);
  using some = best_mapping<net, four, dice::latency, no_split_of<sample::conv1, range<sample::conv2, sample::pool2>>>;
  for (const auto& e : placement::written<net, some>.entries)
    for (const auto& list : e.work.lists)
      for (int l = list.first; l <= list.last && e.work.splits(); ++l) {
        EXPECT_NE(l, sample::conv1::id);
        EXPECT_FALSE(l >= sample::conv2::id && l <= sample::pool2::id) << l;
      }
}

TEST(best_mapping, keeps_ends_and_limits_of_mixes) {
  using ends = best_mapping<net, unlike, dice::latency, input_at<"c">, output_at<"a">>;
  constexpr auto& m = placement::written<net, ends>;
  std::string first, last;
  const auto host_of = [&](int rank) {
    for (const auto& e : m.entries)
      if (e.what == placement::entry::kind::dev && e.dev.rank == rank) return std::string(platform::device_of(e.dev).host);
    return std::string();
  };
  int rank = -1;
  for (const auto& e : m.entries) {
    if (const auto ranks = placement::ranks_in(e); ranks.size() > 0 && rank < 0) rank = ranks[0];
    if (e.what != placement::entry::kind::work) continue;
    for (const auto& list : e.work.lists) {
      if (list.first == 0) first = host_of(rank);
      if (list.last == net::size - 1) last = host_of(rank);
    }
    rank = -1;
  }
  EXPECT_EQ(first, "c");
  EXPECT_EQ(last, "a");
  // A limit that only a mix meets, and one that nothing meets: the nearest is that of a mix.
  constexpr auto mix = figures<four, dice::latency>;
  constexpr auto least = mix.latency * 1.01;
  static_assert(figures<four, throughput, at_most_latency<us<least * 1e6>>>.latency <= least);
  static_assert(
      std::is_same_v<best_mapping<net, four, at_most_latency<us<1>>>,
                     error::no_mapping<error::no_mapping_within<at_most_latency<ms<1e-6 * 1e3>>,
                                                                at_most_latency<ms<part::rounded(mix.latency * 1e3, true)>>,
                                                                remedy::relax_this_limit_or_add_devices>>>);
  static_assert(figures<four, peak_memory>.memory <= figures<four, peak_memory, whole_layers>.memory);
}

/// What the compiler finds is not better than what the search at run time does, which tries more.
template <class Cluster, class... W> void compare_with_run_time() {
  constexpr auto by = algorithm::backend_of(platform::unit{});
  static constexpr auto tables = algorithm::tables_of<net, algorithm::bit(by)>;
  const auto& s = cost::setting_of<net, Cluster>;
  const auto& operators = schedule::detail::operators_of<net>;
  const cost::evaluator rate(s, tables, operators, graph::parameters_of<net>);
  const auto r = part::request_of<W...>(s.cluster.hosts);
  const auto p = cost::problem_of(s);
  const auto found = part::find_mix(s, p, rate, {operators.data(), operators.size()}, {.wanted = r},
                                    part::mix_of(part::find_best(s, r).stages));
  constexpr auto compiled = figures<Cluster, W...>;
  EXPECT_LE(part::value_of(r.aim.best, found.expected), part::value_of(r.aim.best, compiled) * (1 + 3e-5));
}

TEST(best_mapping, is_no_better_than_the_search_at_run_time) {
  compare_with_run_time<four, dice::latency>();
  compare_with_run_time<four, throughput>();
  compare_with_run_time<unlike, dice::latency>();
  compare_with_run_time<unlike, throughput>();
  compare_with_run_time<unlike, energy>();
  compare_with_run_time<unlike, peak_memory>();
}

}  // namespace
