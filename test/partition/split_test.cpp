// best_split: against all shares, and against predictions.
#include "dice/partition/partition.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <type_traits>

namespace {

using namespace dice;
using net = sample::network;

using slow = board<"slow", ram<1_GiB>, processor<threads<1>, gflops<0.1>, gbytes_per_s<0.1>>>;
using quick = board<"quick", ram<1_GiB>, processor<threads<1>, gflops<0.3>, gbytes_per_s<0.3>>>;
using wire = connection<gbytes_per_s<0.5>, us<1>>;
using two = cluster<host<"s", slow>, host<"q", quick>, wire>;
using far = cluster<host<"s", slow>, host<"q", quick>, connection<gbytes_per_s<0.01>, us<1>>>;

TEST(best_split, balances_exactly) {
  std::mt19937 draw(1);
  for (int round = 0; round < 300; ++round) {
    std::array<double, 3> seconds{};
    for (auto& s : seconds) s = 0.1 + static_cast<double>(draw() % 70) / 10;
    const int units = 3 + static_cast<int>(draw() % 30);
    const auto last = [&](const std::array<int, 3>& shares) {
      double out = 0;
      for (std::size_t d = 0; d < 3; ++d) out = std::max(out, shares[d] * seconds[d]);
      return out;
    };
    double least = 1e9;
    for (int a = 1; a <= units - 2; ++a)
      for (int b = 1; b <= units - a - 1; ++b) least = std::min(least, last({a, b, units - a - b}));
    const auto found = partition::balanced(seconds, units);
    EXPECT_EQ(found[0] + found[1] + found[2], units);
    EXPECT_DOUBLE_EQ(last(found), least);
    EXPECT_GE(*std::min_element(found.begin(), found.end()), 1);
  }
}

template <class... Option>
using by_rows = mapping<dev<0, cpu, on<"s">>, layers<sample::image>, ranks<0>, dev<1, cpu, on<"q">>,
                        rows<range<sample::conv1, sample::relu2>, Option...>, ranks<0>, layers<from<sample::pool1>>>;

TEST(best_split, gives_each_device_its_share) {
  // The second host is three times as fast: of 8 rows it gets 6, and fewer if messages take long.
  static_assert(std::is_same_v<best_split<net, two, by_rows<>>, by_rows<shares<2, 6>>>);
  static_assert(std::is_same_v<best_split<net, two, by_rows<exchange_every<2>>>, by_rows<exchange_every<2>, shares<2, 6>>>);
  static_assert(std::is_same_v<best_split<net, far, by_rows<>>, by_rows<shares<4, 4>>>);
  using by_columns = mapping<dev<0, cpu, on<"s">>, layers<sample::image>, ranks<0>, dev<1, cpu, on<"q">>,
                             columns<range<sample::conv1, sample::relu2>>, ranks<0>, layers<from<sample::pool1>>>;
  using shared_columns =
      mapping<dev<0, cpu, on<"s">>, layers<sample::image>, ranks<0>, dev<1, cpu, on<"q">>,
              columns<range<sample::conv1, sample::relu2>, shares<2, 6>>, ranks<0>, layers<from<sample::pool1>>>;
  static_assert(std::is_same_v<best_split<net, two, by_columns>, shared_columns>);
  // Where cutting pieces out takes little time, these shares have the best prediction, too.
  using spare = cluster<host<"s", board<"slow", ram<1_GiB>, processor<threads<1>, gflops<0.1>, gbytes_per_s<1>>>>,
                        host<"q", board<"quick", ram<1_GiB>, processor<threads<1>, gflops<0.3>, gbytes_per_s<3>>>>, wire>;
  static_assert(std::is_same_v<best_split<net, spare, by_rows<>>, by_rows<shares<2, 6>>>);
  constexpr double best = predicted<net, by_rows<shares<2, 6>>, spare>.latency;
  static_assert(best < predicted<net, by_rows<shares<1, 7>>, spare>.latency);
  static_assert(best < predicted<net, by_rows<shares<3, 5>>, spare>.latency);
  static_assert(best < predicted<net, by_rows<>, spare>.latency);
  // Within a host of two processors, messages take hardly any time.
  using both = board<"both", ram<1_GiB>, processor<cores<0>, gflops<1>, gbytes_per_s<1>>,
                     processor<cores<1>, gflops<3>, gbytes_per_s<3>>>;
  using one = cluster<host<"b", both>>;
  using beside = mapping<dev<0, cores<0>>, layers<sample::image>, ranks<0>, dev<1, cores<1>>,
                         rows<range<sample::conv1, sample::relu2>>, ranks<0>, layers<from<sample::pool1>>>;
  using shared = mapping<dev<0, cores<0>>, layers<sample::image>, ranks<0>, dev<1, cores<1>>,
                         rows<range<sample::conv1, sample::relu2>, shares<2, 6>>, ranks<0>, layers<from<sample::pool1>>>;
  static_assert(std::is_same_v<best_split<net, one, beside>, shared>);
}

/// A link carries all messages of a frame, one after the other.
TEST(predicted_split, counts_all_messages_of_a_link) {
  using narrow = cluster<host<"s", slow>, host<"q", quick>, connection<gbytes_per_s<0.0001>, us<50>>>;
  using shifted = mapping<dev<0, cpu, on<"s">>, layers<sample::image>, ranks<0>, dev<1, cpu, on<"q">>,
                          rows<range<sample::conv1, sample::relu1>>, ranks<0, 1>,
                          rows<range<sample::conv2, sample::relu2>, shares<7, 1>>, ranks<0>, layers<from<sample::pool1>>>;
  constexpr auto& plan = schedule::plan_of<net, shifted>;
  double busy[2]{};
  int messages[2]{};
  for (const auto& m : plan.messages) {
    busy[m.from] += 50e-6 + static_cast<double>(m.bytes) / 1e5;
    ++messages[m.from];
  }
  EXPECT_GT(messages[1], 1);
  EXPECT_GT(busy[1], busy[0]);
  EXPECT_DOUBLE_EQ((predicted<net, shifted, narrow>.period), std::max(busy[0], busy[1]));
}

template <class... Option>
using by_replicas = mapping<dev<0, cpu, on<"s">>, layers<sample::image>, ranks<0>, dev<1, cpu, on<"q">>,
                            replicas<range<sample::conv1, sample::fc1>, Option...>, ranks<0>, layers<sample::scores>>;

TEST(best_split, gives_each_replica_its_frames) {
  using found = best_split<net, two, by_replicas<>>;
  static_assert(std::is_same_v<found, by_replicas<shares<4, 12>>>);
  static_assert(std::is_same_v<best_split<net, two, by_replicas<first_free>>, by_replicas<first_free>>);
  constexpr double best = predicted<net, found, two>.throughput;
  static_assert(best > predicted<net, by_replicas<shares<3, 13>>, two>.throughput);
  static_assert(best > predicted<net, by_replicas<shares<5, 11>>, two>.throughput);
  // Equal shares take twice the slow host's time of a frame for two frames, the best ones as much as both hosts can do.
  static_assert(best > predicted<net, by_replicas<>, two>.throughput * 1.9);
  constexpr double free = predicted<net, by_replicas<first_free>, two>.throughput;
  static_assert(free > best * 0.99 && free < best * 1.01);
  using on_quick = mapping<dev<0, cpu, on<"s">>, layers<sample::image, sample::scores>, dev<1, cpu, on<"q">>,
                           layers<range<sample::conv1, sample::fc1>>>;
  static_assert(best > predicted<net, on_quick, two>.throughput * 1.3);
  // A rank with other layers gets fewer frames.
  using busy = mapping<dev<0, cpu, on<"s">>, layers<sample::image, from<sample::pool1>>, ranks<0>, dev<1, cpu, on<"q">>,
                       replicas<range<sample::conv1, sample::relu2>>>;
  using less = mapping<dev<0, cpu, on<"s">>, layers<sample::image, from<sample::pool1>>, ranks<0>, dev<1, cpu, on<"q">>,
                       replicas<range<sample::conv1, sample::relu2>, shares<1, 15>>>;
  static_assert(std::is_same_v<best_split<net, two, busy>, less>);
}

/// What a device has itself comes by no message, however slow messages within its host are.
TEST(best_split, counts_no_message_of_a_device_to_itself) {
  using slow_inside = board<"slow", ram<1_GiB>, processor<threads<1>, gflops<0.1>, gbytes_per_s<0.1>>,
                            connection<gbytes_per_s<0.001>, us<1>>>;
  static_assert(std::is_same_v<best_split<net, cluster<host<"s", slow_inside>, host<"q", quick>, wire>, by_rows<>>,
                               by_rows<shares<2, 6>>>);
}

TEST(best_split, leaves_the_rest_as_it_is) {
  static_assert(std::is_same_v<best_split<net, two, by_rows<shares<5, 3>>>, by_rows<shares<5, 3>>>);
  using whole = mapping<dev<0, cpu>, layers<all>>;
  static_assert(std::is_same_v<best_split<net, two, whole>, whole>);
  // Mistakes of the mapping stay for dice::main, those of the cluster are named instead of a mapping.
  using wrong = mapping<dev<0, cpu>, layers<sample::image>>;
  static_assert(std::is_same_v<best_split<net, two, wrong>, wrong>);
  using elsewhere = mapping<dev<0, cpu, on<"nowhere">>, layers<all>>;
  static_assert(!std::is_same_v<best_split<net, two, elsewhere>, elsewhere>);
}

}  // namespace
