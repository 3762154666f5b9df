// Replicas: who computes which frame, and what is there for it.
#include "divided.hpp"

#include "dice/parts/proofs.hpp"
#include "dice/schedule/proofs.hpp"

#include "../seeds.hpp"
#include "schedule/simulate.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace dice;

void expect_proofs(const test::real_network& net, const schedule::built_split& is) {
  const auto all = is.net.view();
  ASSERT_TRUE(parts::parts_match(net.view(), net.all_operators(), all));
  ASSERT_TRUE(schedule::sound(is.plan.view(), all.net, all.parts));
  ASSERT_TRUE(schedule::turns_match(is.plan.view(), all));
}

/// Whoever computes a frame, each rank has the right values.
void expect_values(const test::real_network& net, const schedule::built_split& is, unsigned seed) {
  const auto all = is.net.view();
  const std::span<const algorithm::choice> how(is.algorithms.data(), static_cast<std::size_t>(is.algorithms.size()));
  ASSERT_EQ(test::simulation(all.net, is.plan.view(), how, 9, seed, all.parts, net.view()).run(), "");
}

/// A tensor that is put together on rank 0 for three layers there, in any order: x is computed by replicas of one set, y by
/// those of another, w for all frames. Only if all readers are replicas of one set is it put together for their frames only.
TEST(Turns, WhatSeveralReadIsThereForAllOfThem) {
  for (const std::string readers : {"xxx", "yyy", "xyx", "yxy", "xxy", "yxx", "wxw", "xwx", "xww", "wwx", "xyw", "ywy"}) {
    SCOPED_TRACE(readers);
    test::real_network net;
    const int input = net.add(ops::input{.extents = {1, 4, 8, 6}}, {});
    const int rows = net.add(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {input});
    test::assigned given{
        .owner = {0, 0}, .work_of = {0, 1}, .run_ranks = {0, 0, 1, 0, 1, 0, 2}, .shares = {}, .work_items = {}};
    given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                        {.cut = placement::geometry::rows, .first_rank = 1, .ranks = 2},
                        {.dealt = placement::dealing::in_turn, .first_rank = 3, .ranks = 2},
                        {.dealt = placement::dealing::in_turn, .first_rank = 5, .ranks = 2}};
    for (const char reader : readers) {
      net.add(ops::tanh{}, {rows});
      given.work_of.push_back(reader == 'w' ? 0 : reader == 'x' ? 2 : 3);
    }
    for (int k = 0; k < 3; ++k) {
      net.add(ops::output{}, {2 + k});
      given.work_of.push_back(0);
    }
    given.owner.resize(given.work_of.size());
    const auto is = test::plan_of(net, given, {-1, -1, -1}, 4);
    expect_proofs(net, is);
    expect_values(net, is, 1);
    const bool one_set = readers == "xxx" || readers == "yyy";
    int joins = 0;
    for (int l = 0; l < is.net.parts.size(); ++l)
      if (is.net.parts[l].what == parts::part::kind::join && is.net.owner[l] == 0) {
        EXPECT_EQ(is.net.parts[l].when, one_set ? (parts::turn{readers[0] == 'x' ? 0 : 1, 0}) : parts::turn{});
        ++joins;
      }
    EXPECT_EQ(joins, 1);
  }
}

/// Whoever computes a frame, each rank gets what it needs of it.
TEST(Turns, ReplicasHaveTheirTurns) {
  int sets = 0, again = 0, picks = 0, joins = 0;
  // 152: layers of one set read a tensor before and after a layer of another.
  const auto seeds = test::seeds(test::plans(300), {152});
  for (const unsigned seed : seeds) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, seed % 3 == 0, true);
    const auto all = d.parts();
    expect_proofs(d.net, d.is);
    if (seed < 12 || seed % 100 == 0) expect_values(d.net, d.is, seed);
    if (seed < 24 && seed % 3 > 0) d.compare<kernels::openmp::backend>(true);
    if (testing::Test::HasFatalFailure()) return;
    sets += static_cast<int>(all.replicas.size());
    for (int l = 2; l < d.net.size(); ++l) {  // a set that comes again behind other layers
      const auto& of = d.given.work_of;
      const auto i = static_cast<std::size_t>(l);
      again += d.given.work_items[of[i]].has_replicas() && of[i] != of[i - 1] &&
               std::find(of.begin(), of.begin() + l - 1, of[i]) != of.begin() + l - 1;
    }
    for (const auto& p : all.parts) {
      picks += p.what == parts::part::kind::pick;
      joins += p.what == parts::part::kind::join && !p.when.always();
    }
  }
  const int plans = static_cast<int>(seeds.size());
  EXPECT_GT(sets, plans);
  EXPECT_GT(again, plans / 2);
  EXPECT_GT(picks, 3 * plans);
  EXPECT_GT(joins, plans / 3);  // for a replica's frames only
}

/// The rank that makes what replicas read gives frames to the first that is free; in turns, each has its share.
TEST(Turns, WhoMakesWhatReplicasReadDecides) {
  test::real_network net;
  const int input = net.add(ops::input{.extents = {1, 4, 8, 6}}, {}), elu = net.add(ops::elu{}, {input});
  net.add(ops::output{}, {net.add(ops::tanh{}, {elu})});
  const auto plan = [&](bool first_free) {
    test::assigned given{
        .owner = {0, 2, 1, 0}, .work_of = {0, 1, 2, 0}, .run_ranks = {0, 2, 1, 0}, .shares = {3, 1}, .work_items = {}};
    given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                        {.cut = placement::geometry::whole, .first_rank = 1, .ranks = 1},
                        {.dealt = placement::dealing::in_turn, .first_rank = 2, .ranks = 2}};
    if (first_free) given.work_items[2].dealt = placement::dealing::to_first_free;
    else given.work_items[2].shares = 2;
    return test::plan_of(net, given, {-1, -1, -1}, 4);
  };
  const auto free = plan(true), turns = plan(false);
  expect_proofs(net, free);
  expect_proofs(net, turns);
  const auto members = [](const schedule::built_split& is) {
    return std::vector<parts::replica>(is.plan.members.begin(), is.plan.members.end());
  };
  EXPECT_EQ(free.plan.replicas[0], (parts::replica_set{.first = 0, .members = 2, .decides = 2}));
  EXPECT_EQ(members(free), (std::vector<parts::replica>{{1, 1}, {0, 1}}));
  EXPECT_EQ(turns.plan.replicas[0], (parts::replica_set{.first = 0, .members = 2, .decides = -1}));
  EXPECT_EQ(members(turns), (std::vector<parts::replica>{{1, 3}, {0, 1}}));
}

/// A rank picks a tensor and a Concat of it, which would bring it if one rank had made them.
TEST(Turns, APickedTensorDoesNotComeWithinAConcat) {
  test::real_network net;
  const int input = net.add(ops::input{.extents = {1, 16, 6, 6}}, {});
  const auto conv = [&](int from) {
    return net.add(ops::conv{.channels = 16, .kernel = {1, 1}}, {from}, {{16, net.shape(from)[1], 1, 1}});
  };
  const int a = conv(input), b = net.add(ops::concat{.axis = 1}, {input, a});
  const int c = conv(b), d = net.add(ops::concat{.axis = 1}, {b, c, a});
  net.add(ops::output{}, {conv(d)});
  const auto n = static_cast<std::size_t>(net.size());
  test::assigned given{.owner = std::vector<int>(n),
                       .work_of = {0, 1, 1, 2, 2, 0, 0},
                       .run_ranks = {0, 2, 1, 2, 0},
                       .shares = {},
                       .work_items = {}};
  given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                      {.dealt = placement::dealing::in_turn, .first_rank = 1, .ranks = 2},
                      {.dealt = placement::dealing::in_turn, .first_rank = 3, .ranks = 2}};
  const auto is = test::plan_of(net, given, {-1, -1, -1}, 5);
  const auto all = is.net.view();
  EXPECT_TRUE(schedule::sound(is.plan.view(), all.net, all.parts) && schedule::turns_match(is.plan.view(), all));
  // Rank 1 is a replica only: one segment, but all frames in flight lie between its own.
  EXPECT_EQ(is.plan.ranks[1].last_segment - is.plan.ranks[1].first_segment, 1);
  EXPECT_EQ(is.plan.ranks[1].slots, 5);
}

/// An Elu that one rank sends to two replicas of a Tanh, one of which also convolves it first. There the Tanh of the other
/// replica may arrive before the convolution has read the Elu, so no Tanh may overwrite it.
TEST(Turns, AReplicaDoesNotOverwriteWhatTheOthersMessageWould) {
  test::real_network net;
  const int input = net.add(ops::input{.extents = {1, 16, 6, 6}}, {}), elu = net.add(ops::elu{}, {input});
  const int conv = net.add(ops::conv{.channels = 16, .kernel = {1, 1}}, {elu}, {{16, 16, 1, 1}});
  const int tanh = net.add(ops::tanh{}, {elu});
  net.add(ops::output{}, {net.add(ops::sub{}, {conv, tanh})});
  test::assigned given{
      .owner = {0, 0, 1, 1, 1, 1}, .work_of = {0, 0, 1, 2, 1, 1}, .run_ranks = {0, 1, 1, 0}, .shares = {}, .work_items = {}};
  given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1},
                      {.cut = placement::geometry::whole, .first_rank = 1, .ranks = 1},
                      {.dealt = placement::dealing::in_turn, .first_rank = 2, .ranks = 2}};
  const auto is = test::plan_of(net, given, {-1, -1}, 4);
  const auto all = is.net.view();
  EXPECT_TRUE(schedule::sound(is.plan.view(), all.net, all.parts) && schedule::turns_match(is.plan.view(), all));
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::span<const algorithm::choice> how(is.algorithms.data(), static_cast<std::size_t>(is.algorithms.size()));
    EXPECT_EQ(test::simulation(all.net, is.plan.view(), how, 9, seed, all.parts, net.view()).run(), "") << seed;
  }
}

/// Replicas of parts can be written as values; their plan is refused, and nothing is planned wrongly.
TEST(Turns, ReplicasOfPartsAreRefused) {
  test::real_network net;
  net.add(ops::output{}, {net.add(ops::tanh{}, {net.add(ops::input{.extents = {1, 4, 8, 6}}, {})})});
  placement::work_item tiles{.cut = placement::geometry::grid, .down = 2, .across = 2};
  EXPECT_NO_THROW(test::shared(net, tiles));
  tiles.dealt = placement::dealing::in_turn;
  tiles.ranks = 2;
  EXPECT_EQ(parts::parts_each(tiles), 8);
  EXPECT_THROW(test::shared(net, tiles), std::logic_error);
}

}  // namespace
