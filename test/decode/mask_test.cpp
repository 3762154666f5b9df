// Masks by hand.
#include "dice/decode/mask.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace dice;
using ints = std::vector<std::int32_t>;
using counts = std::vector<std::int64_t>;

TEST(Mask, ArgmaxOfChannels) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, 5, 0, 1, 0, 0,    //
                             1, 2, 3, 1, 0, nan,  //
                             1, 9, 2, 3, 0, 7};
  const auto found = decode::masks({x.data(), {1, 3, 2, 3}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].width, 3);
  EXPECT_EQ(found[0].height, 2);
  EXPECT_EQ(found[0].classes, (ints{0, 2, 1, 2, 0, -1}));
  EXPECT_EQ(found[0].counts, (counts{2, 1, 2}));
  EXPECT_EQ(found[0].dropped, 1);
  EXPECT_EQ(decode::runs(found[0]), (std::vector<decode::run>{{0, 1}, {2, 1}, {1, 1}, {2, 1}, {0, 1}, {-1, 1}}));
}

TEST(Mask, ArgmaxOfLargePictures) {  // longer than a block
  std::vector<float> x(2 * 50 * 50);
  for (std::size_t i = 0; i < 2500; ++i) x[i % 7 ? i : 2500 + i] = 1;
  const auto found = decode::masks({x.data(), {1, 2, 50, 50}})[0];
  for (std::size_t i = 0; i < 2500; ++i) ASSERT_EQ(found.classes[i], i % 7 ? 0 : 1) << i;
  EXPECT_EQ(found.counts, (counts{2142, 358}));
}

TEST(Mask, ThresholdOfOneChannel) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> probabilities{0.4f, 0.5f, 0.6f, 1}, logits{-0.4f, 0, 0.4f, inf};
  EXPECT_EQ(decode::masks({probabilities.data(), {1, 1, 2, 2}})[0].classes, (ints{0, 0, 1, 1}));
  EXPECT_EQ(decode::masks({probabilities.data(), {1, 1, 2, 2}}, {.score = 0.6f})[0].classes, (ints{0, 0, 0, 1}));
  EXPECT_EQ(decode::masks({probabilities.data(), {1, 1, 2, 2}}, {.scores = decode::scale::logits})[0].classes,
            (ints{1, 1, 1, 1}));
  const auto found = decode::masks({logits.data(), {1, 1, 2, 2}})[0];
  EXPECT_EQ(found.classes, (ints{0, 0, 1, -1}));
  EXPECT_EQ(found.counts, (counts{2, 1}));
  // The logistic function of 0.4 is 0.5987.
  EXPECT_EQ(decode::masks({logits.data(), {1, 1, 2, 2}}, {.score = 0.6f})[0].counts, (counts{3, 0}));
}

TEST(Mask, Integers) {
  const std::vector<float> x{3, 3, 0, -1, 65535, 65536, 3, 3};
  const tensor::type one({1, 2, 4}, tensor::number::int64);
  const auto found = decode::masks({x.data(), one})[0];
  EXPECT_EQ(found.classes, (ints{3, 3, 0, -1, 65535, -1, 3, 3}));
  EXPECT_EQ(found.dropped, 2);
  EXPECT_EQ(found.counts.size(), 65536u);
  EXPECT_EQ(found.counts[3], 4);
  EXPECT_EQ(decode::runs(found).front(), (decode::run{3, 2}));
  EXPECT_EQ(decode::masks({x.data(), tensor::type({2, 1, 2, 2}, tensor::number::uint8)}).size(), 2u);
}

TEST(Mask, EachPictureOfABatch) {
  const std::vector<float> x{1, 2, 3, 0, 1, 0, 0, 1};  // (2, 2, 1, 2)
  const auto found = decode::masks({x.data(), {2, 2, 1, 2}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].classes, (ints{1, 0}));
  EXPECT_EQ(found[1].classes, (ints{0, 1}));
}

TEST(Mask, RefusesWhatIsNone) {
  const std::vector<float> x(8);
  EXPECT_NO_THROW(decode::masks({x.data(), {1, 1, 2, 4}}, {.classes = 2}));
  EXPECT_THROW(decode::masks({x.data(), {1, 1, 2, 4}}, {.classes = 3}), std::invalid_argument);
  EXPECT_THROW(decode::masks({x.data(), {2, 2, 2}}), std::invalid_argument);  // (C, H, W), or (B, H, W)?
  EXPECT_THROW(decode::masks({x.data(), {1, 2, 2, 2}}, {.classes = 3}), std::invalid_argument);
  EXPECT_THROW(decode::masks({x.data(), tensor::type({1, 2, 2, 2}, tensor::number::int64)}), std::invalid_argument);
}
