// Networks of parts against the networks that they divide: every element the same, by the kernels of the backends.
#include "divided.hpp"

#include "dice/parts/proofs.hpp"
#include "dice/schedule/proofs.hpp"

#include "schedule/simulate.hpp"

#include <gtest/gtest.h>

namespace {

using namespace dice;

TEST(Expand, PartsAreTheWholeBitForBit) {
  for (unsigned k = 0; k < 26; ++k) {
    const unsigned seed = k < 25 ? k : 250;  // there a cut divides a tile of Winograd's algorithm
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 5, false);
    ASSERT_TRUE(parts::parts_match(d.net.view(), d.net.all_operators(), d.parts()));
    d.compare<kernels::reference::backend>(true);
    if (testing::Test::HasFatalFailure()) return;
    d.compare<kernels::openmp::backend>(true);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Expand, SumsOfInputChannels) {
  for (unsigned seed = 1000; seed < 1015; ++seed) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 5, true);
    ASSERT_TRUE(parts::parts_match(d.net.view(), d.net.all_operators(), d.parts()));
    d.compare<kernels::openmp::backend>(false);
    if (testing::Test::HasFatalFailure()) return;
    const auto all = d.parts();
    for (std::size_t l = 0; l < all.parts.size(); ++l) {  // the first of the partial sums has the bias
      const auto& part = all.parts[l];
      if (part.what != parts::part::kind::partial) continue;
      const auto& op = all.operators[static_cast<std::size_t>(all.restricted[l])];
      const auto& whole = d.net.operators[static_cast<std::size_t>(part.layer)];
      const auto bias = [](const auto& o) {
        return o.template is<ops::gemm>() ? o.template as<ops::gemm>().bias : o.template as<ops::conv>().bias;
      };
      EXPECT_EQ(bias(op), bias(whole) && part.from == 0) << part.from;
    }
  }
}

TEST(Expand, PlansAreSound) {
  for (unsigned k = 0; k < 31; ++k) {
    const unsigned seed = k < 30 ? k : 34;  // there a tensor that could be a band is sent
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, seed % 3 == 0);
    const auto all = d.parts();
    ASSERT_TRUE(schedule::sound(d.is.plan.view(), all.net));
    const std::span<const algorithm::choice> how(d.is.algorithms.data(), static_cast<std::size_t>(d.is.algorithms.size()));
    ASSERT_EQ(test::simulation(all.net, d.is.plan.view(), how, 5, seed, all.parts, d.net.view()).run(), "");
  }
}

/// No element of a layer's result is sent to a rank twice, although ranks compute some elements twice.
TEST(Expand, NothingIsSentTwice) {
  int pairs = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, false);
    const auto& all = d.parts().parts;
    const auto& messages = d.is.plan.messages;
    for (int i = 0; i < messages.size(); ++i)
      for (int k = 0; k < i; ++k) {
        const auto &a = all[static_cast<std::size_t>(messages[i].layer)],
                   &b = all[static_cast<std::size_t>(messages[k].layer)];
        if (messages[i].to != messages[k].to || a.layer != b.layer) continue;
        EXPECT_TRUE(tensor::empty(tensor::intersect(a.box, b.box))) << "seed " << seed << ", layer " << a.layer;
        ++pairs;
      }
  }
  EXPECT_GT(pairs, 100);
}

/// Of strips that two ranks have in turn, each takes the borders of the other's, not what lies between them.
TEST(Expand, StripsInTurnExchangeTheirBorders) {
  using placement::way;
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 4, 24, 8}}, {});
  for (int i = 0; i < 2; ++i) last = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  test::assigned works{.owner = {0, 0, 0, 0}, .work_of = {0, 1, 1, 0}, .run_ranks = {0, 0, 1}, .shares = {}, .works = {}};
  works.works = {{.how = way::whole, .first_rank = 0, .ranks = 1},
                 {.how = way::tiles, .first_rank = 1, .ranks = 2, .down = 4, .across = 1}};
  const std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
  const auto parameters = net.parameters();
  algorithm::by_backend<std::vector<algorithm::choice>> all;
  algorithm::tables tables;
  for (const auto b : {algorithm::backend::openmp, algorithm::backend::reference})
    all[b] = test::choices(net, b), tables.chosen[b] = all[b], tables.smallest[b] = all[b];
  schedule::detail::whole_algorithms algorithms(tables);
  const auto is =
      schedule::build_split({net.view(), net.all_operators(), works.view(), devices, {}, parameters}, algorithms, 1);
  const auto parts = is.net.view();
  int borders = 0;
  for (const auto& m : is.plan.messages) {
    const auto& part = parts.parts[static_cast<std::size_t>(m.layer)];
    if (part.layer != 1) continue;
    EXPECT_EQ(part.box.end[2] - part.box.begin[2], 1) << m.from << " to " << m.to;
    ++borders;
  }
  EXPECT_EQ(borders, 6);  // two at each of three cuts
}

}  // namespace
