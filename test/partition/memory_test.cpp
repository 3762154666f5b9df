// best_mapping of a network most of whose memory is weights, on a few hosts.
#include "dice/partition/partition.hpp"
#include "digits.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace {

using namespace dice;
using net = digits::network;

using some = board<"some", ram<1_GiB>, processor<threads<1>, gflops<1>, gbytes_per_s<1>>>;
using four =
    cluster<host<"a", some>, host<"b", some>, host<"c", some>, host<"d", some>, connection<gbytes_per_s<0.5>, us<1>>>;

template <class... W> constexpr auto figures = predicted<net, best_mapping<net, four, W...>, four>;
constexpr std::int64_t least = figures<peak_memory>.memory;

template <class Error> using none = error::no_mapping<Error>;
template <std::int64_t Limit, std::int64_t Nearest>
using too_little =
    none<error::no_mapping_within<memory_limit<Limit>, memory_limit<Nearest>, remedy::relax_this_limit_or_add_devices>>;

TEST(best_mapping, finds_a_mix_that_fits_where_no_stages_do) {
  static_assert(least < figures<peak_memory, whole_layers>.memory);
  static_assert(figures<dice::latency, memory_limit<least>>.memory <= least);
  static_assert(figures<throughput, memory_limit<least>>.memory <= least);
}

TEST(best_mapping, is_no_worse_than_whole_frames_in_turn) {
  using quick = board<"quick", ram<1_GiB>, processor<threads<1>, gflops<2>, gbytes_per_s<1>>>;
  using three = cluster<host<"a", some>, host<"b", quick>, host<"c", some>, connection<gbytes_per_s<0.5>, us<1>>>;
  constexpr auto all = predicted<net, best_mapping<net, three>, three>,
                 in_turn = predicted<net, best_mapping<net, three, kinds<replicas>>, three>;
  static_assert(all.throughput > in_turn.throughput * 0.99);
}

TEST(best_mapping, names_the_least_memory_of_all_mixes) {
  constexpr auto nearest = partition::rounded_bytes(least);
  static_assert(
      std::is_same_v<best_mapping<net, four, throughput, memory_limit<least / 2>>, too_little<least / 2, nearest>>);
  static_assert(figures<dice::latency, memory_limit<nearest>>.memory <= nearest);
  // Memory suffices for a mix, but this is too slow.
  using slow = best_mapping<net, four, dice::latency, memory_limit<least>, at_least_fps<1e7>>;
  static_assert(!partition::detail::is_mapping<slow>);
  static_assert(
      std::is_same_v<slow, none<error::no_mapping_within<
                               at_least_fps<1e7>,
                               at_least_fps<partition::rounded(figures<throughput, memory_limit<least>>.throughput, false)>,
                               remedy::relax_this_limit_or_add_devices>>>);
}

}  // namespace
