// Which numbers --check-numbers refuses, and what it says. Whole programs: test/app.
#include "dice/runtime/number_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace {

using namespace dice;

std::string found(const std::vector<float>& x, const tensor::shape& s, tensor::layout as) {
  try {
    runtime::require_finite(x.data(), s, {as}, "it holds", "mend it");
    return {};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

TEST(number_check, names_the_first_number) {
  std::vector<float> x(24, std::numeric_limits<float>::max());
  EXPECT_EQ(found(x, {2, 3, 4}, tensor::layout::plain), "");
  x[23] = nan;
  EXPECT_EQ(found(x, {2, 3, 4}, tensor::layout::plain), "it holds NaN at [1, 2, 3]; mend it");
  x[6] = -inf;
  EXPECT_EQ(found(x, {2, 3, 4}, tensor::layout::plain), "it holds -inf at [0, 1, 2]; mend it");
  EXPECT_EQ(found({inf}, {}, tensor::layout::plain), "it holds inf at []; mend it");
}

TEST(number_check, ignores_unused_lanes_of_blocks) {
  const tensor::shape s{2, 18, 3, 5};
  std::vector<float> x(static_cast<std::size_t>(tensor::elements(s, tensor::layout::blocked)), nan);
  const auto at = [&](std::int64_t image, std::int64_t channel, std::int64_t pixel) -> float& {
    return x[((image * 2 + channel / 16) * 15 + pixel) * 16 + channel % 16];
  };
  for (int image = 0; image < 2; ++image)
    for (int channel = 0; channel < 18; ++channel)
      for (int pixel = 0; pixel < 15; ++pixel) at(image, channel, pixel) = 1;
  EXPECT_EQ(found(x, s, tensor::layout::blocked), "");
  at(1, 17, 13) = inf;
  EXPECT_EQ(found(x, s, tensor::layout::blocked), "it holds inf at [1, 17, 2, 3]; mend it");
}

TEST(number_check, counts_from_where_a_part_begins) {
  // Three rows of images with five: planes of 20 elements, what is behind the band is another part's.
  std::vector<float> x(40, nan);
  for (int channel = 0; channel < 2; ++channel) std::fill_n(x.begin() + 20 * channel, 12, 1.F);
  const auto found = [&] {
    try {
      runtime::require_finite(x.data(), {1, 2, 3, 4}, {.pitch = 20}, "it holds", "mend it",
                              {{0, 16, 10, 0}, {1, 18, 13, 4}});
      return std::string();
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(found(), "");
  x[20 + 11] = inf;
  EXPECT_EQ(found(), "it holds inf at [0, 17, 12, 3]; mend it");
}

TEST(number_check, looks_only_where_a_step_has_computed) {
  std::vector<float> x(2 * 5 * 4, nan);
  const tensor::region rows{{0, 0, 1, 0}, {1, 2, 3, 4}};
  const auto found = [&] {
    try {
      runtime::require_finite(x.data(), {1, 2, 5, 4}, {}, "it holds", "mend it", {}, &rows);
      return std::string();
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(found(), "it holds NaN at [0, 0, 1, 0]; mend it");
  for (int channel = 0; channel < 2; ++channel) std::fill_n(x.begin() + 20 * channel + 4, 8, 1.F);
  EXPECT_EQ(found(), "");
  x[20 + 11] = -inf;
  EXPECT_EQ(found(), "it holds -inf at [0, 1, 2, 3]; mend it");
}

/// Masks of Where have NaN for one of its operands; what it computes, and what others read, has to be finite.
TEST(number_check, masks_may_hold_nan) {
  // Of 1 a mask 2 is made, which chooses 3 or the other operand; 6 is a mask, too, but 8 also reads it; nothing reads 11.
  const char* const ops[] = {"Input", "Div",   "Mul", "Relu",   "Where",  "Output",
                             "Div",   "Where", "Add", "Output", "Output", "Div"};
  const std::vector<std::vector<int>> reads{{}, {0}, {1}, {0}, {3, 2}, {4}, {0}, {6}, {6, 0}, {7}, {8}, {0}};
  std::vector<graph::layer_info> layers(reads.size());
  std::vector<graph::edge> edges;
  for (std::size_t l = 0; l < reads.size(); ++l) {
    layers[l].op = ops[l];
    layers[l].first_edge = static_cast<int>(edges.size());
    layers[l].edges = static_cast<int>(reads[l].size());
    for (const int from : reads[l]) edges.push_back({from, static_cast<int>(l), -1});
  }
  const graph::network_view net{{layers.data(), layers.size()}, {edges.data(), edges.size()}, {}};
  const auto found = [&](int layer, float x) {
    try {
      runtime::require_finite(&x, {1}, {}, "it holds", "mend it", {}, nullptr, &net, layer);
      return std::string();
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
  };
  for (const int mask : {1, 2}) {
    EXPECT_EQ(found(mask, nan), "") << mask;
    EXPECT_EQ(found(mask, inf), "it holds inf at [0]; mend it") << mask;
  }
  for (const int other : {3, 4, 6, 7, 8, 11}) EXPECT_EQ(found(other, nan), "it holds NaN at [0]; mend it") << other;
}

}  // namespace
