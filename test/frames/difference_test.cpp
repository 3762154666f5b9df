#include "dice/frames/difference.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using dice::frames::difference;

TEST(difference, IsRelativeToTheLargestExpectedNumber) {
  difference d;
  EXPECT_EQ(d.relative(), 0);
  d.add(1.5, 0);
  EXPECT_EQ(d.relative(), 1.5);
  d.add(-2, -6);
  d.add(1, 1);
  EXPECT_EQ(d.largest, 4);
  EXPECT_EQ(d.expected, 6);
  EXPECT_DOUBLE_EQ(d.relative(), 4.0 / 6);
}

TEST(difference, OfTwoPartsIsThatOfTheWhole) {
  difference a, b;
  a.add(3, 1);
  b.add(0, 8);
  b.add(a);
  EXPECT_EQ(b.largest, 8);
  a.add(difference{});
  EXPECT_EQ(a.largest, 2);
  EXPECT_EQ(a.expected, 1);
}

TEST(difference, StaysNaN) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  difference d, all;
  d.add(inf, inf);
  d.add(1, 2);
  EXPECT_TRUE(std::isnan(d.relative()));
  all.add(9, 1);
  all.add(d);
  all.add(100, 1);
  EXPECT_TRUE(std::isnan(all.largest));
}

}  // namespace
