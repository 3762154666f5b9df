// Networks of parts against the networks that they divide: every element the same, by the kernels of the backends.
#include "divided.hpp"

#include "dice/parts/proofs.hpp"
#include "dice/schedule/proofs.hpp"

#include "../seeds.hpp"
#include "schedule/simulate.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

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

/// Small parts of a layer with large weights have another algorithm than the whole, all of them the same.
TEST(Expand, SmallPartsOfLargeWeightsAreNearlyTheWhole) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 160, 12, 12}}, {});
  last = net.add(ops::conv{.channels = 160, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last}, {{160, 160, 3, 3}});
  const int whole = last;
  last = net.add(ops::output{}, {last});
  const auto built = test::shared(net, {.cut = placement::geometry::grid, .down = 4, .across = 2}, 8);
  const auto all = built.net.view();
  const auto usual = test::choices(net, algorithm::backend::openmp);
  EXPECT_GT(usual[static_cast<std::size_t>(whole)].variant, 0);
  int parts = 0, output = -1;
  for (int l = 0; l < all.net.size(); ++l) {
    if (all.net.layers[l].is_output) output = l;
    if (all.parts[l].layer != whole || !all.parts[l].is_own()) continue;
    ++parts;
    EXPECT_EQ(built.algorithms[l].variant, 0);
  }
  EXPECT_EQ(parts, 8);
  const auto parameters = net.parameters();
  const auto at = [](int l) { return static_cast<std::size_t>(l); };
  const test::evaluation<kernels::openmp::backend> expected(
      net.view(), usual, net.data, [&](int l) { return parameters[at(l)]; }, [&](int l) { return net.operators[at(l)]; });
  const test::evaluation<kernels::openmp::backend> found(
      all.net, {built.algorithms.data(), at(built.algorithms.size())}, net.data,
      [&](int l) {
        if (all.restricted[l] < 0) return parameters[at(all.parts[l].layer)];
        return all.parameters.subview(at(all.first_parameter[l]), at(all.first_parameter[l + 1] - all.first_parameter[l]));
      },
      [&](int l) {
        return all.restricted[l] < 0 ? net.operators[at(all.parts[l].layer)] : all.operators[at(all.restricted[l])];
      });
  float largest = 0;
  for (std::int64_t i = 0; i < net.shape(last).elements(); ++i)
    largest = std::max(largest, std::abs(expected.result(last)[i]));
  for (std::int64_t i = 0; i < net.shape(last).elements(); ++i)
    ASSERT_NEAR(found.result(output)[i], expected.result(last)[i], 1e-5 * largest);
}

/// direct_convolutions of one rank hold for all parts, whatever suits small ones.
TEST(Expand, DirectPartsAreDirect) {
  test::real_network net;
  net.has_data = false;
  net.add(ops::input{.extents = {1, 512, 14, 14}}, {});
  net.add(ops::conv{.channels = 512, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {0}, {{512, 512, 3, 3}});
  net.add(ops::output{}, {1});
  const test::assigned given{
      .owner = {0, 0, 0},
      .work_of = {0, 1, 0},
      .run_ranks = {0, 0, 1, 2, 3},
      .shares = {},
      .work_items = {{.first_rank = 0, .ranks = 1},
                     {.cut = placement::geometry::grid, .first_rank = 1, .ranks = 4, .down = 2, .across = 2}}};
  const auto chosen = test::choices(net, algorithm::backend::openmp),
             direct = test::choices(net, algorithm::backend::openmp, 0);
  algorithm::tables tables;
  tables.chosen[algorithm::backend::openmp] = chosen;
  tables.direct[algorithm::backend::openmp] = direct;
  for (const bool is_direct : {false, true}) {
    std::vector<platform::device> devices(4);
    devices[2].unit.direct = is_direct;
    const schedule::detail::whole_algorithms whole(tables, net.view(), net.all_operators(), given.view(), devices);
    EXPECT_EQ(whole.chosen[algorithm::backend::openmp][1].variant, is_direct ? 0 : 1);
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
      const auto& op = all.operators[all.restricted[l]];
      const auto& whole = d.net.operators[part.layer];
      const auto bias = [](const auto& o) {
        return o.template is<ops::gemm>() ? o.template as<ops::gemm>().bias : o.template as<ops::conv>().bias;
      };
      EXPECT_EQ(bias(op), bias(whole) && part.from == 0) << part.from;
    }
  }
}

/// Tiles of one rank share their weights, so a smaller algorithm saves them once.
TEST(Expand, TilesSaveTheirWeightsOnce) {
  test::real_network net;
  const auto conv = [&](int from) {
    return net.add(ops::conv{.channels = 128, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {from},
                   {{128, net.shape(from)[1], 3, 3}});
  };
  const int input = net.add(ops::input{.extents = {1, 64, 48, 48}}, {}), tiled = conv(input), whole = conv(tiled);
  net.add(ops::output{}, {whole});
  const auto variants = [&](std::int64_t limit) {
    test::assigned given{
        .owner = std::vector<int>(4), .work_of = {0, 1, 0, 0}, .run_ranks = {0, 0}, .shares = {}, .work_items = {}};
    given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                        {.cut = placement::geometry::grid, .first_rank = 1, .ranks = 1, .down = 2, .across = 2}};
    meta::array<algorithm::choice> used;
    const auto is = test::plan_of(net, given, {limit}, 1, &used);
    return std::array<std::int64_t, 3>{used[tiled].variant, used[whole].variant, is.plan.ranks[0].peak_bytes};
  };
  const auto free = variants(-1);
  ASSERT_TRUE(free[0] > 0 && free[1] > 0);
  const auto limited = variants(free[2] - 1);  // the second convolution's weights are the larger ones
  EXPECT_EQ(limited[0], free[0]);
  EXPECT_EQ(limited[1], 0);
}

TEST(Expand, PlansAreSound) {
  // 34: a tensor that could be a band is sent.
  for (const unsigned seed : test::seeds(test::plans(150), {34})) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, seed % 3 == 0);
    const auto all = d.parts();
    ASSERT_TRUE(parts::parts_match(d.net.view(), d.net.all_operators(), all));
    ASSERT_TRUE(schedule::sound(d.is.plan.view(), all.net, all.parts));
    if (seed >= 24 && seed != 34 && seed % 100 > 0) continue;
    const std::span<const algorithm::choice> how(d.is.algorithms.data(), static_cast<std::size_t>(d.is.algorithms.size()));
    ASSERT_EQ(test::simulation(all.net, d.is.plan.view(), how, 5, seed, all.parts, d.net.view()).run(), "");
  }
}

/// No element of a layer's result is sent to a rank twice, although ranks compute some elements twice. What a rank has in
/// one piece is put together with others as one.
TEST(Expand, NothingIsSentTwice) {
  int pairs = 0;
  for (unsigned k = 0; k < 31; ++k) {
    const unsigned seed = k < 30 ? k : 653;  // there a rank reads twice what two ranks compute
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, false);
    const auto all = d.parts().parts;
    const auto& messages = d.is.plan.messages;
    for (int i = 0; i < messages.size(); ++i)
      for (int j = 0; j < i; ++j) {
        const auto &a = all[messages[i].layer], &b = all[messages[j].layer];
        if (messages[i].to != messages[j].to || a.layer != b.layer) continue;
        EXPECT_TRUE(tensor::empty(tensor::intersect(a.box, b.box))) << "seed " << seed << ", layer " << a.layer;
        ++pairs;
      }
  }
  EXPECT_GT(pairs, 100);
}

/// Of strips that two ranks have in turn, each takes the borders of the other's, not what lies between them.
TEST(Expand, StripsInTurnExchangeTheirBorders) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 4, 24, 8}}, {});
  for (int i = 0; i < 2; ++i) last = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  const auto is = test::shared(net, {.cut = placement::geometry::grid, .down = 4, .across = 1});
  const auto parts = is.net.view();
  int borders = 0;
  for (const auto& m : is.plan.messages) {
    const auto& part = parts.parts[m.layer];
    if (part.layer != 1) continue;
    EXPECT_EQ(part.box.end[2] - part.box.begin[2], 1) << m.from << " to " << m.to;
    ++borders;
  }
  EXPECT_EQ(borders, 6);  // two at each of three cuts
}

/// What a rank takes of two neighbouring rows is one message.
TEST(Expand, BordersThatTouchAreSentAtOnce) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 4, 8, 8}}, {});
  for (int i = 0; i < 2; ++i) last = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  const auto is = test::shared(net, {.cut = placement::geometry::grid, .down = 4, .across = 1});  // of two rows each
  std::vector<std::array<std::int64_t, 3>> rows;                                                  // sender, first, end
  for (const auto& m : is.plan.messages)
    if (const auto& part = is.net.view().parts[m.layer]; part.layer == 1)
      rows.push_back({m.from, part.box.begin[2], part.box.end[2]});
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (std::vector<std::array<std::int64_t, 3>>{{0, 1, 2}, {0, 4, 6}, {1, 2, 4}, {1, 6, 7}}));
}

/// VGG's beginning: cuts of the first layers lie where the later ones, whose tiles are larger, can be cut, too. So each rank
/// gets one row of each tensor.
TEST(Expand, CutsSuitTheLayersBehind) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 3, 224, 224}}, {});
  for (const int channels : {64, 128})
    for (int i = 0; i < 3; ++i)
      last = i == 2 ? net.add(ops::max_pool{.kernel = {2, 2}, .strides = {2, 2}}, {last})
                    : net.add(ops::conv{.channels = channels, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  const auto is = test::shared(net, {.cut = placement::geometry::rows});
  const auto parts = is.net.view();
  std::vector<std::int64_t> begins;
  for (std::size_t l = 0; l < parts.parts.size(); ++l)
    if (parts.parts[l].what == parts::part::kind::compute && parts.owner[l] == 1)
      begins.push_back(parts.parts[l].box.begin[2]);
  EXPECT_EQ(begins, (std::vector<std::int64_t>{108, 108, 54, 54, 54, 27}));
  for (const auto& m : is.plan.messages)
    if (const auto& p = parts.parts[m.layer]; p.layer > 0 && p.layer < 6) {
      EXPECT_EQ(p.box.end[2] - p.box.begin[2], 1) << p.layer;
    }
}

/// Rows or columns that ranks send each other of layers with windows (1, 3, 4 and 6) and without (2 and 5): after every
/// layer, every second, third and fourth one with a window.
TEST(Expand, ExchangesAreAsRareAsWished) {
  struct sent {
    int layer, from;
    std::int64_t begin, end;
    bool operator==(const sent&) const = default;
  };
  const auto messages = [](placement::geometry how, int every) {
    const bool rows = how == placement::geometry::rows;
    test::real_network net;
    net.add(ops::input{.extents = {1, 16, rows ? 32 : 8, rows ? 8 : 32}}, {});
    for (int l = 1; l < 7; ++l)
      if (l == 2) net.add(ops::relu{}, {l - 1});
      else if (l == 5) net.add(ops::batch_normalization{}, {l - 1}, {{16}, {16}});
      else net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {l - 1});
    net.add(ops::output{}, {6});
    const auto is = test::shared(net, {.cut = how, .exchange_every = every});
    std::vector<sent> out;
    for (const auto& m : is.plan.messages) {
      const auto& part = is.net.view().parts[m.layer];
      const int axis = rows ? 2 : 3;
      out.push_back({part.layer, m.from, part.box.begin[axis], part.box.end[axis]});
    }
    std::sort(out.begin(), out.end(),
              [](const sent& a, const sent& b) { return std::pair(a.layer, a.from) < std::pair(b.layer, b.from); });
    return out;
  };
  using all = std::vector<sent>;
  for (const auto how : {placement::geometry::rows, placement::geometry::columns}) {
    EXPECT_TRUE((messages(how, 1) == all{{0, 0, 15, 32},
                                         {2, 0, 15, 16},
                                         {2, 1, 16, 17},
                                         {3, 0, 15, 16},
                                         {3, 1, 16, 17},
                                         {5, 0, 15, 16},
                                         {5, 1, 16, 17},
                                         {6, 1, 16, 32}}));
    EXPECT_TRUE((messages(how, 2) == all{{0, 0, 14, 32}, {3, 0, 14, 16}, {3, 1, 16, 18}, {6, 1, 16, 32}}));
    EXPECT_TRUE((messages(how, 3) == all{{0, 0, 13, 32}, {5, 0, 15, 16}, {5, 1, 16, 17}, {6, 1, 16, 32}}));
    EXPECT_TRUE((messages(how, 4) == all{{0, 0, 12, 32}, {6, 1, 16, 32}}));
  }
}

/// Windows are counted from the beginning of each work: of two layers, the second exchanges nothing with the first.
TEST(Expand, EachWorkCountsItsOwnExchanges) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 4, 32, 8}}, {});
  for (int l = 1; l < 4; ++l) last = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  test::assigned given{.owner = std::vector<int>(5),
                       .work_of = {0, 1, 2, 2, 0},
                       .run_ranks = {0, 0, 1, 0, 1},
                       .shares = {},
                       .work_items = {}};
  given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                      {.cut = placement::geometry::rows, .first_rank = 1, .ranks = 2, .exchange_every = 2},
                      {.cut = placement::geometry::rows, .first_rank = 3, .ranks = 2, .exchange_every = 2}};
  const auto is = test::plan_of(net, given, {-1, -1});
  std::vector<std::array<std::int64_t, 4>> sent;  // layer, sender, first row, end
  for (const auto& m : is.plan.messages) {
    const auto& part = is.net.view().parts[m.layer];
    sent.push_back({part.layer, m.from, part.box.begin[2], part.box.end[2]});
  }
  std::sort(sent.begin(), sent.end());
  EXPECT_EQ(sent,
            (std::vector<std::array<std::int64_t, 4>>{{0, 0, 15, 32}, {1, 0, 14, 16}, {1, 1, 16, 18}, {3, 1, 16, 32}}));
}

/// Rank 0 computes 17 rows of the first pool, one more than its own, and the sum reads 18 of them: 17 as they are, and one
/// from rank 1.
TEST(Expand, WhatARankHasIsOnePiece) {
  test::real_network net;
  const auto pool = [&](int from) { return net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {from}); };
  const int input = net.add(ops::input{.extents = {1, 4, 32, 8}}, {}), a = pool(input);
  pool(a);  // before the next exchange, so that a has one more row
  const int sum = net.add(ops::add{}, {pool(pool(pool(pool(input)))), a});
  net.add(ops::output{}, {pool(pool(sum))});
  const auto is = test::shared(net, {.cut = placement::geometry::rows, .exchange_every = 3});
  const auto all = is.net.view();
  std::vector<std::array<std::int64_t, 2>> rows;
  for (int l = 0; l < all.net.size(); ++l) {
    const auto& part = all.parts[l];
    if (part.what != parts::part::kind::join || part.layer != a || all.owner[l] != 0) continue;
    for (const auto& e : all.net.into(l)) {
      const auto& of = all.parts[e.from].box;
      rows.push_back({of.begin[2], of.end[2]});
    }
  }
  EXPECT_EQ(rows, (std::vector<std::array<std::int64_t, 2>>{{0, 17}, {17, 18}}));
}

/// Before a pooling of pairs, also behind an activation, parts begin at even rows, else in the middle.
TEST(Expand, PairsOfRowsStayTogether) {
  for (const bool relu : {false, true})
    for (const bool pool : {false, true}) {
      test::real_network net;
      int last = net.add(ops::input{.extents = {1, 4, 10, 8}}, {});
      last = net.add(ops::average_pool{.kernel = {1, 3}, .pads = {0, 1, 0, 1}}, {last});
      if (relu) last = net.add(ops::relu{}, {last});
      if (pool) last = net.add(ops::max_pool{.kernel = {2, 2}, .strides = {2, 2}}, {last});
      net.add(ops::output{}, {last});
      const auto is = test::shared(net, {.cut = placement::geometry::rows});
      for (const auto& p : is.net.view().parts)
        if (p.what == parts::part::kind::compute && p.layer < (relu ? 3 : 2)) {
          EXPECT_EQ(p.box.end[2] == 10 ? p.box.begin[2] : p.box.end[2], pool ? 4 : 5) << relu << pool;
        }
    }
}

/// Each part has its share of a layer's parameters: here 32 outputs of 32 channels and 9 elements, and their bias.
TEST(Expand, PartsHaveTheirShareOfParameters) {
  test::real_network net;
  const int input = net.add(ops::input{.extents = {1, 32, 8, 8}}, {});
  const int conv = net.add(ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}, {input},
                           {{32, 32, 3, 3}, {32}});
  net.add(ops::output{}, {net.add(ops::batch_normalization{}, {conv}, {{32}, {32}})});
  const auto bytes = [&](placement::geometry how, int layer) {
    const auto is = test::shared(net, {.cut = how});
    const auto all = is.net.view();
    std::vector<std::int64_t> out;
    for (std::size_t l = 0; l < all.parts.size(); ++l)
      if (all.parts[l].layer == layer && all.parts[l].is_own()) out.push_back(all.net.layers[l].parameter_bytes);
    return out;
  };
  using two = std::vector<std::int64_t>;
  using enum placement::geometry;
  EXPECT_EQ(bytes(rows, conv), (two{4 * (32 * 32 * 9 + 32), 4 * (32 * 32 * 9 + 32)}));
  EXPECT_EQ(bytes(output_channels, conv), (two{4 * (16 * 32 * 9 + 16), 4 * (16 * 32 * 9 + 16)}));
  EXPECT_EQ(bytes(input_channels, conv), (two{4 * (32 * 16 * 9 + 32), 4 * 32 * 16 * 9}));
  EXPECT_EQ(bytes(output_channels, conv + 1), (two{4 * 2 * 16, 4 * 2 * 16}));
}

/// A part that computes more rows, so as to exchange less often, begins and ends between those that Resize repeats.
TEST(Expand, PartsOfResizeHaveAllRepetitions) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 4, 12, 6}}, {});
  last = net.add(ops::resize{.factors = {1, 1, 2, 2, 1, 1, 1, 1}}, {last});
  last = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last});
  net.add(ops::output{}, {last});
  const auto is = test::shared(net, {.cut = placement::geometry::rows, .exchange_every = 2});
  std::vector<std::array<std::int64_t, 2>> rows;
  for (const auto& p : is.net.view().parts)
    if (p.layer == 1 && p.what == parts::part::kind::compute) rows.push_back({p.box.begin[2], p.box.end[2]});
  EXPECT_EQ(rows, (std::vector<std::array<std::int64_t, 2>>{{0, 14}, {10, 24}}));  // MaxPool reads 0…12 and 11…23
}

/// Small algorithms have less weights, and may need a larger arena. A rank that exceeds its limit with both gets the plan in
/// which it needs less, so that the error names the least need.
TEST(Expand, LimitsThatCannotBeKeptGetTheSmallerPlan) {
  test::real_network net;
  int last = net.add(ops::input{.extents = {1, 16, 100, 100}}, {});
  last = net.add(ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {last}, {{32, 16, 3, 3}});
  for (const int from : {32, 256}) {
    const int to = 288 - from;
    last = net.add(ops::conv{.channels = to, .kernel = {1, 1}}, {last}, {{to, from, 1, 1}});
  }
  net.add(ops::output{}, {last});
  const placement::work_item rows{.cut = placement::geometry::rows};
  const auto fastest = test::shared(net, rows).plan.ranks[0].peak_bytes;
  EXPECT_EQ(test::shared(net, rows, 2, fastest - 1).plan.ranks[0].peak_bytes, fastest);
}

}  // namespace
