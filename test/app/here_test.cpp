// A program for one kind of board: the same plan, but only the kernels of its own ranks.
#define DICE_DEPLOYED_BOARD "fast"
#include <dice/dice.hpp>

#include "digits.hpp"

#include "dice/runtime/digest.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <type_traits>

namespace {

using namespace dice;

using fast = board<"fast", ram<1 << 30>, processor<cpu, gflops<10>, gbytes_per_s<1>>>;
using slow = board<"slow", ram<1 << 30>, processor<cpu, gflops<1>, gbytes_per_s<1>>>;
using lab = cluster<host<"a", fast>, host<"b", slow>, host<"c", fast>, connection<mbit_per_s<100>, us<100>>>;
using thirds = mapping<dev<0, cpu, on<"b">>, layers<to<digits::pool2>>, dev<1, cpu, on<"c">>,
                       layers<range<digits::conv3, digits::pool3>>, dev<2, cpu, on<"a">>, layers<from<digits::flatten>>>;
using here = app::here<digits::network, thirds, lab>;

TEST(Here, RanksOfTheBoard) {
  EXPECT_EQ(here::ranks, (std::array{false, true, true}));
  EXPECT_EQ(here::board, "fast");
}

TEST(Here, OtherRanksHaveNoKernels) {
  constexpr auto& all = assembly::program_of<digits::network, thirds>;
  constexpr auto& some = assembly::program_of<digits::network, thirds, here>;
  EXPECT_TRUE(all.has_all() && all.has(0) && all.board.empty());
  EXPECT_TRUE(!some.has_all() && !some.has(0) && some.has(1) && some.has(2));
  EXPECT_EQ(some.board, "fast");
  ASSERT_EQ(some.kernels.size(), all.kernels.size());
  for (std::size_t g = 0; g < all.kernels.size(); ++g) {
    EXPECT_TRUE(all.kernels[g].by.run) << g;
    EXPECT_EQ(some.kernels[g].by.run, all.plan.groups[g].rank == 0 ? nullptr : all.kernels[g].by.run) << g;
  }
  // They work together, and packed weights serve both.
  EXPECT_EQ(runtime::plan_digest(some), runtime::plan_digest(all));
  EXPECT_EQ(runtime::packed_identity(some), runtime::packed_identity(all));
}

TEST(Here, NeedsACluster) {
  EXPECT_TRUE((app::right_on<digits::network, thirds, lab>));
  using wrong = decltype(app::verdict_on<digits::network, thirds, void>()());
  EXPECT_TRUE((std::is_same_v<wrong, error::board_without_cluster<thirds, remedy::name_the_cluster_after_the_mapping>>));
}

}  // namespace
