#include "dice/schedule/borders.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using dice::schedule::borders;
using dice::tensor::region;

region box(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
  return {.begin = {0, 0, top, left}, .end = {1, 3, bottom, right}};
}
std::vector<region> regions(const borders& b) {
  std::vector<region> out;
  b.each([&](const region& r) { out.push_back(r); });
  return out;
}

TEST(Borders, NoneWithoutReaders) { EXPECT_EQ(regions({{1, 3, 20, 10}, 4, 5}), std::vector{box(0, 20, 0, 10)}); }

TEST(Borders, RowsAboveAndBelow) {
  borders b({1, 3, 22, 10}, 4, 5);
  b.add(box(0, 1, 0, 10));
  b.add(box(21, 22, 0, 10));
  EXPECT_EQ(regions(b), (std::vector{box(0, 4, 0, 10), box(20, 22, 0, 10), box(4, 20, 0, 10)}));
}

TEST(Borders, ATileWithTwoNeighboursAndACorner) {
  borders b({1, 3, 20, 30}, 4, 5);
  b.add(box(19, 20, 29, 30));
  b.add(box(19, 20, 0, 30));
  b.add(box(0, 20, 28, 30));
  EXPECT_EQ(regions(b), (std::vector{box(16, 20, 0, 30), box(0, 16, 25, 30), box(0, 16, 0, 25)}));
}

// Of two ways to cover a corner, the one that leaves more of what is left.
TEST(Borders, ACornerLeavesAsMuchAsPossible) {
  const auto corner = box(23, 24, 29, 30);
  borders below({1, 3, 24, 30}, 4, 5);
  below.add(box(0, 1, 0, 30));
  below.add(corner);  // 20 × 25 elements rather than 16 × 30
  EXPECT_EQ(regions(below), (std::vector{box(0, 4, 0, 30), box(4, 24, 25, 30), box(4, 24, 0, 25)}));
  borders right({1, 3, 24, 30}, 4, 5);
  right.add(box(0, 24, 0, 1));
  right.add(corner);  // 20 × 25 elements rather than 24 × 20
  EXPECT_EQ(regions(right), (std::vector{box(20, 24, 0, 30), box(0, 20, 0, 5), box(0, 20, 5, 30)}));
}

TEST(Borders, AreNoLargerThanWhatIsWanted) {
  borders b({1, 3, 22, 10}, 4, 5);
  b.add(box(0, 4, 0, 10));
  b.add(box(20, 22, 0, 10));
  EXPECT_EQ(regions(b), (std::vector{box(0, 4, 0, 10), box(20, 22, 0, 10), box(4, 20, 0, 10)}));
}

TEST(Borders, SomethingRemains) {
  borders b({1, 3, 7, 10}, 4, 5);  // two blocks of rows
  b.add(box(0, 1, 0, 10));
  b.add(box(6, 7, 0, 10));
  EXPECT_EQ(regions(b), (std::vector{box(0, 4, 0, 10), box(4, 7, 0, 10)}));
  borders all({1, 3, 7, 10}, 1, 1);
  all.add(box(0, 7, 0, 10));
  EXPECT_EQ(regions(all), std::vector{box(0, 7, 0, 10)});
}

/// Whatever others read, the regions cover the image once, and begin at blocks.
TEST(Borders, CoverTheImage) {
  std::mt19937 draw(3);
  const auto to = [&](std::int64_t n) { return static_cast<std::int64_t>(draw() % static_cast<unsigned>(n)); };
  for (int turn = 0; turn < 500; ++turn) {
    const std::int64_t height = 1 + to(30), width = 1 + to(30), rows = 1 + to(9), columns = 1 + to(9);
    borders b({1, 3, height, width}, rows, columns);
    for (auto n = to(5); n > 0; --n) {
      const auto y = to(height), x = to(width);
      b.add(box(y, y + 1 + to(height - y), x, x + 1 + to(width - x)));
    }
    std::vector<int> times(static_cast<std::size_t>(height * width));
    for (const auto& r : regions(b)) {
      EXPECT_FALSE(dice::tensor::empty(r));
      EXPECT_TRUE(r.begin[2] % rows == 0 && r.begin[3] % columns == 0);
      for (auto y = r.begin[2]; y < r.end[2]; ++y)
        for (auto x = r.begin[3]; x < r.end[3]; ++x) ++times[y * width + x];
    }
    EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; })) << turn;
  }
}

}  // namespace
