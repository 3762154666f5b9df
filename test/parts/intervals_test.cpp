#include "dice/parts/intervals.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

namespace {

std::vector<std::int64_t> bounds(std::int64_t extent, std::int64_t step, std::int64_t grid, std::vector<int> shares,
                                 std::vector<std::int64_t> like = {}) {
  const auto found = dice::parts::intervals(extent, step, grid, shares, like);
  return {found.begin(), found.end()};
}
using list = std::vector<std::int64_t>;

TEST(Intervals, InProportionToTheShares) {
  EXPECT_EQ(bounds(224, 1, 1, {1, 1}), (list{0, 112, 224}));
  EXPECT_EQ(bounds(224, 1, 1, {1, 1, 1}), (list{0, 75, 149, 224}));
  EXPECT_EQ(bounds(56, 1, 1, {7, 1}), (list{0, 49, 56}));
}
TEST(Intervals, BeginAtTheGrid) {
  EXPECT_EQ(bounds(224, 1, 6, {1, 1}), (list{0, 114, 224}));
  EXPECT_EQ(bounds(14, 1, 4, {1, 1, 1, 1}), (list{0, 4, 8, 12, 14}));
}
TEST(Intervals, NoneIsEmpty) {
  EXPECT_EQ(bounds(14, 1, 4, {1, 1, 1, 1, 1}), (list{0, 3, 6, 8, 11, 14}));
  EXPECT_EQ(bounds(7, 1, 1, {100, 1, 1}), (list{0, 5, 6, 7}));
  EXPECT_EQ(bounds(2, 1, 4, {1, 1}), (list{0, 1, 2}));
}
TEST(Intervals, FollowAnOperand) {
  EXPECT_EQ(bounds(112, 1, 1, {1, 1}, {0, 114, 224}), (list{0, 57, 112}));
  EXPECT_EQ(bounds(7, 1, 1, {1, 1, 1}, {0, 6, 8, 14}), (list{0, 3, 4, 7}));
  EXPECT_EQ(bounds(4, 1, 1, {1, 1}, {0, 3, 8}), (list{0, 1, 4}));  // to the nearest where any element may be a bound
}
TEST(Intervals, BeginWhereOthersWish) {
  EXPECT_EQ(dice::parts::intervals(224, 1, 6, std::vector{1, 1}, {}, 12)[1], 108);
  EXPECT_EQ(dice::parts::intervals(224, 1, 6, std::vector{1, 1}, std::vector<std::int64_t>{0, 102, 224}, 12)[1], 102);
  EXPECT_EQ(dice::parts::intervals(20, 1, 6, std::vector{1, 1, 1}, {}, 12)[1], 6);  // two multiples only
  using dice::parts::suits;
  EXPECT_TRUE(suits(12, 224, std::vector{1, 1}) && suits(4, 28, std::vector{1, 1}) == false);
  EXPECT_TRUE(suits(7, 28, std::vector{1, 2, 1}) && !suits(14, 28, std::vector{1, 2, 1}));
  EXPECT_TRUE(suits(10, 104, std::vector{1, 1}) && !suits(10, 96, std::vector{1, 1}));  // 2 of 52, of 48
}
TEST(Intervals, OfChannels) { EXPECT_EQ(bounds(100, 16, 16, {1, 1, 1}), (list{0, 32, 64, 100})); }

/// Whatever is asked for, intervals follow each other, are not empty and begin at multiples of the step.
TEST(Intervals, AreValid) {
  for (std::int64_t extent = 1; extent < 40; ++extent)
    for (const int step : {1, 2, 16})
      for (const int times : {1, 2, 3})
        for (int parts = 1; parts <= (extent + step - 1) / step && parts < 9; ++parts) {
          std::vector<int> shares;
          for (int i = 0; i < parts; ++i) shares.push_back(1 + (i * 5 + static_cast<int>(extent)) % 7);
          const auto found = bounds(extent, step, step * times, shares);
          ASSERT_EQ(found.front(), 0);
          ASSERT_EQ(found.back(), extent);
          for (int i = 0; i < parts; ++i) {
            ASSERT_LT(found[i], found[static_cast<std::size_t>(i) + 1]);
            ASSERT_EQ(found[i] % step, 0);
          }
        }
}

}  // namespace
