#include "dice/cost/evaluator.hpp"

#include "dice/algorithm/table.hpp"
#include "dice/cost/predicted.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/schedule/static_split.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dice;
using namespace dice::literals;
using net = sample::network;

template <auto Cores, int Gflops>
using made_of = board<"b", ram<1_GiB>, processor<cores<0, Cores>, gflops<Gflops>, gbytes_per_s<1>, watts<3, 1>>>;
using lab = cluster<host<"a", made_of<1, 1>>, host<"b", made_of<3, 5>>, host<"c", made_of<1, 2>>,
                    connection<mbit_per_s<800>, us<10>>>;

constexpr auto backend = algorithm::backend_of(platform::unit{});
constexpr auto tables = algorithm::tables_of<net, algorithm::bit(backend)>;
const cost::evaluator evaluate(cost::setting_of<net, lab>, tables, schedule::detail::operators_of<net>,
                               graph::parameters_of<net>);

placement::text_mapping read(const std::string& text) { return placement::parse(text, net::name, graph::view_of<net>); }

/// What the compiler predicts for the plan of types is what the evaluator finds for the same mapping as text.
template <class Map> void expect_as_compiled() {
  constexpr auto expected = predicted<net, Map, lab>;
  const auto text = placement::write(placement::written<net, Map>, net::name, graph::view_of<net>);
  const auto found = evaluate.rate(read(text).values());
  ASSERT_TRUE(found.is_right()) << text;
  const auto& got = found.frame.expected;
  EXPECT_DOUBLE_EQ(got.throughput, expected.throughput) << text;
  EXPECT_DOUBLE_EQ(got.latency, expected.latency) << text;
  EXPECT_DOUBLE_EQ(got.energy, expected.energy) << text;
  EXPECT_EQ(got.memory, expected.memory) << text;
}

TEST(Evaluator, PredictsWhatTheCompilerDoes) {
  using A = dev<0, cpu, on<"a">>;
  using B = dev<1, cpu, on<"b">>;
  using C = dev<2, cores<0, 1>, on<"c">>;
  using inner = range<sample::conv1, sample::relu2>;
  expect_as_compiled<mapping<A, layers<all>>>();
  expect_as_compiled<mapping<B, layers<to<sample::conv2>>, A, layers<from<sample::add1>>>>();  // ranks in another order
  expect_as_compiled<split<net, points<2, 6>, A, B, C>>();
  using outer = layers<sample::image, from<sample::pool1>>;
  expect_as_compiled<mapping<A, outer, ranks<0>, B, C, rows<inner, shares<1, 3, 2>>>>();
  expect_as_compiled<mapping<A, outer, ranks<0>, B, tiles<2, 2, inner, exchange_every<2>>>>();
  expect_as_compiled<mapping<A, outer, ranks<0>, B, C, replicas<inner, shares<1, 3, 2>>>>();
  expect_as_compiled<mapping<A, outer, ranks<0>, B, C, replicas<inner, first_free>>>();
}

TEST(Evaluator, NamesMistakes) {
  const auto twice = evaluate.rate(read("mapping<dev<0>, layers<all>, dev<0>, layers<all>>").values());
  EXPECT_FALSE(twice.is_right());
  EXPECT_EQ(twice.mistake.what, placement::mistake::rank_used_twice);
  const auto elsewhere = evaluate.rate(
      read(R"(mapping<dev<0, cpu, on<"a">>, layers<to<sample::conv2>>, dev<1, cpu, on<"x">>, layers<from<sample::add1>>>)")
          .values());
  EXPECT_FALSE(elsewhere.is_right());
  EXPECT_FALSE(elsewhere.mistake);
  EXPECT_EQ(elsewhere.misplaced, 1);
  const auto first = evaluate.rate(read(R"(mapping<dev<0, cpu, on<"x">>, layers<all>>)").values());
  EXPECT_FALSE(first.is_right());
  EXPECT_EQ(first.misplaced, 0);
  EXPECT_TRUE(first.frame.ranks.empty()) << "predicts on a host that is not there";
}

TEST(Evaluator, IsUsedBySeveralThreads) {
  std::vector<placement::text_mapping> all;
  for (const std::string word : {"rows", "columns", "output_channels", "replicas"})
    all.push_back(read("mapping<dev<0>, layers<sample::image, from<sample::pool1>>, ranks<0>, dev<1>, " + word +
                       "<range<sample::conv1, sample::relu2>>>"));
  std::vector<double> once;
  for (const auto& m : all) once.push_back(evaluate.rate(m.values()).frame.expected.latency);
  EXPECT_NE(once[0], once[2]);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        for (std::size_t k = 0; k < all.size(); ++k)
          wrong += evaluate.rate(all[k].values()).frame.expected.latency != once[k];
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
