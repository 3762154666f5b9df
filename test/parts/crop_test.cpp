#include "dice/parts/crop.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace dice;

/// Elements of a tensor, numbered in their order, that a box holds.
std::vector<std::int64_t> inside(const tensor::shape& s, const tensor::region& box) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    bool in = true;
    for (std::int64_t rest = i, a = s.rank - 1; a >= 0; rest /= s[static_cast<int>(a)], --a)
      in = in && rest % s[static_cast<int>(a)] >= box.begin[a] && rest % s[static_cast<int>(a)] < box.end[a];
    if (in) out.push_back(i);
  }
  return out;
}

TEST(Crop, HasTheElementsOfTheBox) {
  std::mt19937 draw(3);
  int pieces[3] = {};
  for (int i = 0; i < 3000; ++i) {
    tensor::shape s;
    for (int a = 1 + static_cast<int>(draw() % 4); a > 0; --a) s.push_back(1 + draw() % 5);
    auto box = tensor::whole(s);
    for (int a = 0; a < s.rank; ++a)
      if (draw() % 2) {
        box.begin[a] = draw() % s[a];
        box.end[a] = box.begin[a] + 1 + draw() % (s[a] - box.begin[a]);
      }
    graph::parameter p;
    try {
      p = parts::crop({.offset = 640, .extents = s}, box);
    } catch (const graph::model_error&) {  // in rows, planes and more
      continue;
    }
    std::vector<std::int64_t> found;
    for (std::int64_t y = 0; y < p.planes; ++y)
      for (std::int64_t x = 0; x < p.rows; ++x)
        for (std::int64_t k = 0; k < p.run_bytes() / 4; ++k)
          found.push_back((p.offset - 640 + y * p.plane_pitch + x * p.row_pitch) / 4 + k);
    ASSERT_EQ(found, inside(s, box));
    ASSERT_EQ(p.extents, tensor::extents(box, s));
    ASSERT_EQ(p.end(), 640 + 4 * (found.back() + 1));
    ++pieces[(p.rows > 1) + (p.planes > 1)];
  }
  for (const int n : pieces) EXPECT_GT(n, 50);
}

}  // namespace
