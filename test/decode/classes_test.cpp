// The most probable classes, by hand.
#include "dice/decode/classes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace dice;

namespace {

std::vector<int> indices(const decode::found_classes& found) {
  std::vector<int> out;
  for (const auto& each : found.classes) out.push_back(each.class_index);
  return out;
}

}  // namespace

TEST(Classes, ProbabilitiesStayAsTheyAre) {
  const std::vector<float> x{0.1f, 0.6f, 0.1f, 0.2f};
  const auto found = decode::most_probable(x);
  EXPECT_EQ(found.classes, (std::vector<decode::class_score>{{1, 0.6f}, {3, 0.2f}, {0, 0.1f}, {2, 0.1f}}));
  EXPECT_EQ(indices(decode::most_probable(x, {.most = 2})), (std::vector<int>{1, 3}));
}

TEST(Classes, SoftmaxIsAppliedToLogits) {
  const std::vector<float> x{1000, 1000, -1000};
  const auto found = decode::most_probable(x);
  EXPECT_EQ(found.classes, (std::vector<decode::class_score>{{0, 0.5f}, {1, 0.5f}, {2, 0}}));
  // Numbers from 0 to 1 whose sum is not 1 are logits, too.
  EXPECT_LT(decode::most_probable(std::vector<float>{0.9f, 0.9f}).classes[0].score, 0.51f);
  EXPECT_LT(decode::most_probable(std::vector<float>{0.5f, 0.52f}).classes[0].score, 0.51f);
  EXPECT_EQ(decode::most_probable(std::vector<float>{0.9f, 0.9f}, {.scores = decode::scale::probabilities}).classes[0].score,
            0.9f);
  EXPECT_LT(decode::most_probable(std::vector<float>{1, 0}, {.scores = decode::scale::logits}).classes[0].score, 0.74f);
  EXPECT_FLOAT_EQ(decode::most_probable(std::vector<float>{-0.5f, 1.5f}).classes[0].score, 1 / (1 + std::exp(-2.0f)));
}

TEST(Classes, WhatIsNotFiniteIsDroppedAndCounted) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto found = decode::most_probable(std::vector<float>{inf, 0.25f, nan, 0.75f, -inf});
  EXPECT_EQ(found.classes, (std::vector<decode::class_score>{{3, 0.75f}, {1, 0.25f}}));
  EXPECT_EQ(found.dropped, 3);
  EXPECT_TRUE(decode::most_probable(std::vector<float>{nan, inf}).classes.empty());
  EXPECT_TRUE(decode::most_probable({}).classes.empty());
}

TEST(Classes, EachPictureOfABatch) {
  const std::vector<float> x{0.1f, 0.9f, 3, -2};
  const auto both = decode::classes({x.data(), {2, 2}}, {.most = 1});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].classes, (std::vector<decode::class_score>{{1, 0.9f}}));
  EXPECT_EQ(indices(both[1]), (std::vector<int>{0}));
  EXPECT_EQ(decode::classes({x.data(), {4}}).size(), 1u);
  EXPECT_EQ(decode::classes({x.data(), {2, 2, 1, 1}}).size(), 2u);
  EXPECT_THROW(decode::classes({x.data(), {1, 2, 2}}), std::invalid_argument);
  EXPECT_THROW(decode::classes({x.data(), {2, 2}}, {.classes = 3}), std::invalid_argument);
  EXPECT_THROW(decode::classes({x.data(), tensor::type({2, 2}, tensor::number::int64)}), std::invalid_argument);
}
