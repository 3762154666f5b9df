// Boxes by hand: what two of them share, and which are kept.
#include "dice/decode/box.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

using namespace dice;
using decode::box;

TEST(Box, IntersectionOverUnion) {
  const box a{0, 0, 4, 2, 1, 0};
  EXPECT_EQ(decode::intersection_over_union(a, a), 1);
  EXPECT_EQ(decode::intersection_over_union(a, {2, 0, 4, 2, 1, 0}), 1.0f / 3);  // 4 of 12
  EXPECT_EQ(decode::intersection_over_union(a, {2, 1, 4, 2, 1, 0}), 2.0f / 14);
  EXPECT_EQ(decode::intersection_over_union(a, {1, 0.5f, 2, 1, 1, 0}), 0.25f);  // inside
  EXPECT_EQ(decode::intersection_over_union(a, {4, 0, 4, 2, 1, 0}), 0);         // side by side
  EXPECT_EQ(decode::intersection_over_union(a, {9, 9, 4, 2, 1, 0}), 0);         // no product of two negative numbers
  EXPECT_EQ(decode::intersection_over_union({1, 1, 0, 0, 1, 0}, {1, 1, 0, 0, 1, 0}), 0);
}

TEST(Box, IntersectionOverUnionIsAtMost1) {  // (x + width) - x is often more than width
  for (int i = 0; i < 1000; ++i) {
    const float x = 0.37f * static_cast<float>(i), size = 1 / (0.1f + static_cast<float>(i));
    const box a{x, x, size, size, 1, 0};
    EXPECT_LE(decode::intersection_over_union(a, a), 1) << i;
  }
}

TEST(Box, BestKeepsTheOrderOfEqualScores) {
  const std::vector<box> all{{0, 0, 1, 1, 0.5f, 0}, {1, 0, 1, 1, 0.7f, 0}, {2, 0, 1, 1, 0.5f, 1}, {3, 0, 1, 1, 0.5f, 0}};
  EXPECT_EQ(decode::best(all, 3), (std::vector<box>{all[1], all[0], all[2]}));
  EXPECT_EQ(decode::best(all, 9).size(), 4u);
  EXPECT_TRUE(decode::best({}, 3).empty());
}

TEST(Box, SuppressionDropsWhatOverlapsAKeptBox) {
  // 0 and 1 share 8 of 12, 1 and 2 too, but 0 and 2 only 6 of 14: 2 stays, since 1 is gone.
  const std::vector<box> row{{0, 0, 10, 1, 0.9f, 0}, {2, 0, 10, 1, 0.8f, 0}, {4, 0, 10, 1, 0.7f, 0}};
  EXPECT_EQ(decode::non_maximum_suppression({row[2], row[0], row[1]}, 0.5f, 10), (std::vector<box>{row[0], row[2]}));
  EXPECT_EQ(decode::non_maximum_suppression(row, 0.7f, 10), row);
  EXPECT_EQ(decode::non_maximum_suppression(row, 0.7f, 2), (std::vector<box>{row[0], row[1]}));
  EXPECT_TRUE(decode::non_maximum_suppression({}, 0.5f, 10).empty());
}

TEST(Box, SuppressionNeedsMoreThanTheOverlap) {
  const std::vector<box> half{{0, 0, 2, 1, 0.9f, 0}, {0, 0, 1, 1, 0.8f, 0}};
  EXPECT_EQ(decode::non_maximum_suppression(half, 0.5f, 10).size(), 2u);
  EXPECT_EQ(decode::non_maximum_suppression(half, 0.49f, 10).size(), 1u);
}

TEST(Box, SuppressionIsOfOneClassUnlessAskedOtherwise) {
  const std::vector<box> same{{0, 0, 2, 1, 0.9f, 0}, {0, 0, 2, 1, 0.8f, 1}, {0, 0, 2, 1, 0.7f, 0}};
  EXPECT_EQ(decode::non_maximum_suppression(same, 0.5f, 10), (std::vector<box>{same[0], same[1]}));
  EXPECT_EQ(decode::non_maximum_suppression(same, 0.5f, 10, true), (std::vector<box>{same[0]}));
}

TEST(Box, SuppressionTakesTheFirstOfEqualScores) {
  const std::vector<box> equal{{1, 0, 9, 1, 0.5f, 0}, {0, 0, 9, 1, 0.5f, 0}};
  EXPECT_EQ(decode::non_maximum_suppression(equal, 0.5f, 10), (std::vector<box>{equal[0]}));
}

TEST(Box, HugeBoxesDoNoHarm) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<box> all{{-huge, -huge, huge, huge, 0.9f, 0}, {-huge, -huge, huge, huge, 0.8f, 0}};
  EXPECT_EQ(decode::non_maximum_suppression(all, 0.5f, 10).size(), 2u);
}
