// Detectors' heads by hand: one or two boxes in each form, and results that do not fit.
#include "dice/decode/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace dice;
using decode::box;
using decode::head;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

/// Decodes one result of shape (B, a, b).
std::vector<decode::found_boxes> decoded(head as, std::int64_t a, std::int64_t b, const std::vector<float>& numbers,
                                         const decode::options& o = {}) {
  const decode::result one{numbers.data(), {static_cast<std::int64_t>(numbers.size()) / (a * b), a, b}};
  return decode::boxes(as, {&one, 1}, o);
}

std::vector<box> only(const std::vector<decode::found_boxes>& all) {
  EXPECT_EQ(all.size(), 1u);
  return all[0].boxes;
}

std::vector<float> turned(const std::vector<float>& rows, std::size_t columns) {
  std::vector<float> out(rows.size());
  const auto n = rows.size() / columns;
  for (std::size_t i = 0; i < rows.size(); ++i) out[i % columns * n + i / columns] = rows[i];
  return out;
}

std::string wrong(head as, std::initializer_list<tensor::type> types, const decode::options& o = {}) {
  return decode::what_is_wrong(as, {types.begin(), types.size()}, o);
}

#define EXPECT_TELLS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Two classes. Objectness multiplies their scores: 0.5 · 0.8 is enough, 0.5 · 0.4 is not.
const std::vector<float> v5{10, 20, 4, 6, 0.5f,  0.1f, 0.8f,  //
                            50, 60, 4, 6, 0.5f,  0.4f, 0.3f,  //
                            70, 80, 2, 2, 0.1f,  1,    1,     //
                            30, 40, 2, 2, 1,     0.9f, 0.2f,  //
                            0,  0,  1, 1, 0,     0,    0,     //
                            0,  0,  1, 1, 0,     0,    0,     //
                            0,  0,  1, 1, 0.25f, 1,    1};

}  // namespace

TEST(Heads, Yolov5) {
  const std::vector<box> expected{{29, 39, 2, 2, 0.9f, 0}, {8, 17, 4, 6, 0.4f, 1}};
  EXPECT_EQ(only(decoded(head::yolov5, 7, 7, v5)), expected);
  EXPECT_EQ(only(decoded(head::yolov5, 7, 7, v5, {.most = 1})), (std::vector<box>{expected[0]}));
  EXPECT_EQ(only(decoded(head::yolov5, 7, 7, v5, {.score = 0.4f})), (std::vector<box>{expected[0]}));  // not higher
  EXPECT_EQ(only(decoded(head::yolov5, 7, 7, v5, {.score = 0.05f})).size(), 5u);
}

TEST(Heads, Yolov8InBothForms) {
  // Three classes; of equal scores, the first class counts.
  const std::vector<float> rows{10, 20, 4, 6, 0.1f, 0.8f, 0.8f,   //
                                10, 20, 4, 5, 0.1f, 0.7f, 0.2f,   // overlaps by 5/6 > 0.7
                                10, 20, 4, 4, 0.1f, 0.7f, 0.2f,   // by 4/6 only
                                30, 40, 2, 2, 0.2f, 0.1f, 0.9f,   //
                                30, 40, 2, 2, 0.2f, 0.1f, 0.25f,  //
                                30, 40, 2, 2, 0.3f, 0.1f, 0.25f,  //
                                50, 40, 2, 2, 0,    0,    0,      //
                                50, 40, 2, 2, 0,    0,    0};
  const std::vector<box> expected{
      {29, 39, 2, 2, 0.9f, 2}, {8, 17, 4, 6, 0.8f, 1}, {8, 18, 4, 4, 0.7f, 1}, {29, 39, 2, 2, 0.3f, 0}};
  EXPECT_EQ(only(decoded(head::yolov8, 8, 7, rows)), expected);
  EXPECT_EQ(only(decoded(head::yolov8, 7, 8, turned(rows, 7))), expected);
  const std::vector<box> fewer{expected[0], expected[1], expected[2]};
  EXPECT_EQ(only(decoded(head::yolov8, 7, 8, turned(rows, 7), {.across_classes = true})), fewer);
  EXPECT_EQ(only(decoded(head::yolov8, 7, 8, turned(rows, 7), {.overlap = 0.8f})), expected);
  EXPECT_EQ(only(decoded(head::yolov8, 7, 8, turned(rows, 7), {.overlap = 0.9f})).size(), 5u);
}

TEST(Heads, Yolov8WithThousandsOfBoxes) {
  std::vector<float> rows(6 * 5000);  // they are looked at in blocks
  const auto set = [&](std::size_t n, const std::vector<float>& row) {
    std::copy(row.begin(), row.end(), rows.begin() + static_cast<std::ptrdiff_t>(6 * n));
  };
  set(1, {10, 20, 4, 6, 0.1f, 0.8f});
  set(2047, {30, 20, 4, 6, 0.7f, 0.1f});
  set(2048, {50, 20, 4, 6, 0.1f, 0.6f});
  set(2049, {70, 20, 4, 6, 0.5f, 0.1f});
  set(4999, {90, 20, 4, 6, 0.1f, 0.4f});
  const std::vector<box> expected{{8, 17, 4, 6, 0.8f, 1},
                                  {28, 17, 4, 6, 0.7f, 0},
                                  {48, 17, 4, 6, 0.6f, 1},
                                  {68, 17, 4, 6, 0.5f, 0},
                                  {88, 17, 4, 6, 0.4f, 1}};
  EXPECT_EQ(only(decoded(head::yolov8, 5000, 6, rows)), expected);
  EXPECT_EQ(only(decoded(head::yolov8, 6, 5000, turned(rows, 6))), expected);
}

TEST(Heads, Yolov8WithFewerBoxesThanNumbersNeedsClasses) {
  const std::vector<float> row{10, 20, 4, 6, 0.1f, 0.8f, 0.2f};
  EXPECT_TELLS(wrong(head::yolov8, {{1, 1, 7}}), "head yolov8 takes");
  EXPECT_EQ(only(decoded(head::yolov8, 1, 7, row, {.classes = 3})), (std::vector<box>{{8, 17, 4, 6, 0.8f, 1}}));
  EXPECT_EQ(only(decoded(head::yolov8, 7, 1, row, {.classes = 3})), (std::vector<box>{{8, 17, 4, 6, 0.8f, 1}}));
}

TEST(Heads, Yolov10) {
  const std::vector<float> rows{1, 2, 5, 9, 0.3f, 7, 1, 2, 5, 9, 0.9f, 2, 1, 2, 5, 9, 0.9f, 2, 1, 2, 5, 9, 0.2f, 2};
  const std::vector<box> expected{{1, 2, 4, 7, 0.9f, 2}, {1, 2, 4, 7, 0.9f, 2}, {1, 2, 4, 7, 0.3f, 7}};
  EXPECT_EQ(only(decoded(head::yolov10, 4, 6, rows)), expected);
}

TEST(Heads, Yolov10InTwoResultsOfABatch) {
  const std::vector<float> corners{1, 2, 5, 9, 3, 2, 5, 9}, scores{0.1f, 0.9f, 0.1f, 0.8f, 0.2f, 0.1f};
  const decode::result both[]{{corners.data(), {2, 1, 4}}, {scores.data(), {2, 1, 3}}};
  const auto all = decode::boxes(head::yolov10, both);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].boxes, (std::vector<box>{{1, 2, 4, 7, 0.9f, 1}}));
  EXPECT_EQ(all[1].boxes, (std::vector<box>{{3, 2, 2, 7, 0.8f, 0}}));
}

TEST(Heads, EachPictureOfABatchHasItsBoxes) {
  auto two = v5;
  two.insert(two.end(), v5.size(), 0);
  two.insert(two.end(), v5.begin(), v5.end());
  const auto all = decoded(head::yolov5, 7, 7, two);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].boxes.size(), 2u);
  EXPECT_TRUE(all[1].boxes.empty());
  EXPECT_EQ(all[2].boxes, all[0].boxes);
}

TEST(Heads, SsdWithCorners) {
  const std::vector<float> corners{0.1f, 0.25f, 0.5f, 0.75f, 0, 0, 1, 1, 0, 0, 0.5f, 0.5f};
  const std::vector<float> probabilities{0.1f, 0.2f, 0.7f, 0.1f, 0.9f, 0, 0.6f, 0.2f, 0.2f};
  const auto found = [&](const std::vector<float>& scores, decode::options o) {
    o.width = 100;
    o.height = 200;
    const decode::result both[]{{corners.data(), {1, 3, 4}}, {scores.data(), {1, 3, 3}}};
    const decode::result reversed[]{both[1], both[0]};
    const auto out = decode::boxes(head::ssd, both, o);
    EXPECT_EQ(decode::boxes(head::ssd, reversed, o)[0].boxes, out[0].boxes);
    return out[0].boxes;
  };
  const std::vector<box> expected{{0, 0, 100, 200, 0.9f, 0}, {10, 50, 40, 100, 0.7f, 1}};
  EXPECT_EQ(found(probabilities, {}), expected);
  // A box can be of both classes.
  EXPECT_EQ(found(probabilities, {.score = 0.15f}).size(), 5u);

  std::vector<float> logits;
  for (const float p : probabilities) logits.push_back(p > 0 ? std::log(p) : -80.0f);
  const auto same = found(logits, {});
  ASSERT_EQ(same.size(), 2u);
  EXPECT_NEAR(static_cast<double>(same[0].score), 0.9, 1e-6);
  EXPECT_NEAR(static_cast<double>(same[1].score), 0.7, 1e-6);
  EXPECT_EQ(same[1].class_index, 1);
  EXPECT_EQ(found(logits, {.score = 0.15f}).size(), 5u);
  EXPECT_EQ(found(logits, {.score = 0.0f}).size(), 6u);
  // Also where only the background's number is no probability.
  EXPECT_EQ(found({-2, 0.2f, 0.7f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, {.score = 0.55f}).size(), 1u);
  EXPECT_NEAR(static_cast<double>(found({-2, 0.2f, 0.7f, 0, 0, 0, 0, 0, 0}, {})[0].score), 0.597, 1e-3);
  EXPECT_TRUE(found(logits, {.score = 1.0f}).empty());
  EXPECT_EQ(found(probabilities, {.score = 0.25f, .scores = decode::scale::logits}).size(), 5u);  // softmax evens them out
}

TEST(Heads, SsdWithPriors) {
  // Centre x = 0.5 + 0.1 · 1 · 0.2 = 0.52, width = 0.2 · exp(0.2 · ln 32) = 0.4.
  const std::vector<float> offsets{1, -1, std::log(32.0f), 0}, scores{0.1f, 0.9f};
  const decode::result both[]{{offsets.data(), {1, 1, 4}}, {scores.data(), {1, 1, 2}}};
  const auto found = only(decode::boxes(head::ssd, both, {.width = 100, .height = 100, .priors = {0.5f, 0.5f, 0.2f, 0.4f}}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found[0].x), 32, 1e-4);
  EXPECT_NEAR(static_cast<double>(found[0].y), 26, 1e-4);
  EXPECT_NEAR(static_cast<double>(found[0].width), 40, 1e-4);
  EXPECT_NEAR(static_cast<double>(found[0].height), 40, 1e-4);
}

TEST(Heads, WhatIsNotFiniteIsDroppedAndCounted) {
  for (const float bad : {not_a_number, inf, -inf})
    for (std::size_t i = 0; i < 7; ++i) {
      auto five = v5, eight = v5;
      five[i] = bad;
      EXPECT_EQ(decoded(head::yolov5, 7, 7, five)[0].dropped, 1) << i;
      EXPECT_EQ(decoded(head::yolov5, 7, 7, five)[0].boxes.size(), 1u);
      // Three classes, of which class 0 has objectness here. A square is taken as (B, 4 + C, N), unless there is one row
      // more.
      eight[i] = bad;
      const decode::options all{.overlap = 1.0f, .classes = 3};
      EXPECT_EQ(decoded(head::yolov8, 7, 7, turned(eight, 7), all)[0].dropped, 1) << i;
      EXPECT_EQ(decoded(head::yolov8, 7, 7, turned(eight, 7), all)[0].boxes.size(), 4u);
      eight.insert(eight.end(), 7, 0);
      EXPECT_EQ(decoded(head::yolov8, 8, 7, eight, all)[0].dropped, 1) << i;
      EXPECT_EQ(decoded(head::yolov8, 8, 7, eight, all)[0].boxes.size(), 4u);
    }
  std::vector<float> ten{1, 2, 5, 9, 0.9f, 2};
  for (std::size_t i = 0; i < 6; ++i) {
    auto numbers = ten;
    numbers[i] = not_a_number;
    const auto found = decoded(head::yolov10, 1, 6, numbers)[0];
    EXPECT_TRUE(found.boxes.empty());
    EXPECT_EQ(found.dropped, 1);
  }
  for (const auto& numbers : {std::vector<float>{5, 2, 1, 9, 0.9f, 2}, {1, 2, 5, 9, 0.9f, -1}, {1, 2, 5, 9, 0.9f, 1e30f}})
    EXPECT_EQ(decoded(head::yolov10, 1, 6, numbers)[0].dropped, 1);
}

TEST(Heads, ScoresOfSsdThatAreNotFiniteAreDroppedAndCounted) {
  const std::vector<float> corners{0, 0, 1, 1, 0, 0, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<float> scores{0.1f, 0.8f, 0.1f, 0.1f, 0.1f, 0.8f};
    scores[i] = inf;
    const decode::result both[]{{corners.data(), {1, 2, 4}}, {scores.data(), {1, 2, 3}}};
    const auto found = decode::boxes(head::ssd, both, {.width = 1, .height = 1})[0];
    EXPECT_EQ(found.dropped, 1);
    EXPECT_EQ(found.boxes, (std::vector<box>{{0, 0, 1, 1, 0.8f, 1}}));
  }
}

TEST(Heads, WhatIsWrongNamesWhatIsTakenAndFound) {
  EXPECT_EQ(wrong(head::yolov5, {{1, 25200, 85}}), "");
  EXPECT_EQ(wrong(head::yolov8, {{1, 84, 8400}}), "");
  EXPECT_EQ(wrong(head::yolov8, {{4, 8400, 84}}, {.classes = 80}), "");
  EXPECT_EQ(wrong(head::yolov10, {{1, 300, 6}}), "");
  EXPECT_EQ(wrong(head::ssd, {{1, 8732, 4}, {1, 8732, 21}}, {.width = 300, .height = 300}), "");
  EXPECT_EQ(wrong(head::yolov5, {{1, 84, 8400}}),
            "head yolov5 takes one result of shape (pictures, boxes, 5 + classes), with at least as many boxes as numbers "
            "for each "
            "unless the classes are known, but the network gives float32 (1, 84, 8400); heads that take this: yolov8");
  EXPECT_EQ(
      wrong(head::yolov8, {{1, 116, 8400}}, {.classes = 80}),
      "head yolov8 takes one result of shape (pictures, 4 + classes, boxes) or (pictures, boxes, 4 + classes), with 80 "
      "classes, but the network gives float32 (1, 116, 8400); export the network in another form");
  EXPECT_TELLS(wrong(head::yolov5, {{1, 25200, 85}}, {.classes = 81}), "with 81 classes");
  EXPECT_TELLS(wrong(head::yolov5, {{1, 25200, 5}}), "float32 (1, 25200, 5)");
  EXPECT_TELLS(wrong(head::yolov8, {{1, 4, 8400}}), "float32 (1, 4, 8400)");
  EXPECT_TELLS(wrong(head::yolov10, {{1, 300, 7}}), "(pictures, boxes, 6)");
  EXPECT_TELLS(wrong(head::yolov10, {{300, 6}}), "float32 (300, 6); heads that take this: classes");
  EXPECT_EQ(wrong(head::yolov10, {{1, 8400, 4}, {1, 8400, 80}}, {.classes = 80}), "");
  EXPECT_EQ(wrong(head::yolov10, {{1, 8400, 1}, {1, 8400, 4}}), "");
  EXPECT_TELLS(wrong(head::yolov10, {{1, 8400, 4}, {1, 8400, 80}}, {.classes = 79}),
               "with 79 classes, but the network gives float32 (1, 8400, 4) and float32 (1, 8400, 80)");
  EXPECT_TELLS(wrong(head::yolov10, {{1, 8400, 4}, {1, 8400, 80}, {1, 1}}), "or two of shapes (pictures, boxes, 4) and");
  EXPECT_TELLS(wrong(head::ssd, {{1, 9, 4}, {1, 9, 1}}, {.width = 9, .height = 9}), "heads that take this: yolov10");
  EXPECT_TELLS(wrong(head::yolov8, {}), "the network gives none");
  EXPECT_TELLS(wrong(head::ssd, {{1, 8732, 4}}), "two results of shapes");
  EXPECT_TELLS(wrong(head::ssd, {{1, 8732, 4}, {1, 8731, 21}}), "float32 (1, 8732, 4) and float32 (1, 8731, 21)");
  EXPECT_TELLS(wrong(head::ssd, {{1, 9, 4}, {1, 9, 21}}), "needs the width and height of the network's input");
  EXPECT_EQ(wrong(head::ssd, {{1, 9, 4}, {1, 9, 21}}, {.width = 9, .height = 9, .priors = std::vector<float>(35)}),
            "head ssd needs 4 numbers for each prior, 36 for its 9 boxes, but was given 35");
  EXPECT_TELLS(wrong(head::yolov8, {{1, 84, 8400}}, {.score = 1.5f}), "between 0 and 1");
  EXPECT_TELLS(wrong(head::yolov8, {{1, 84, 8400}}, {.overlap = not_a_number}), "between 0 and 1");
  EXPECT_TELLS(wrong(head::yolov8, {{1, 84, 8400}}, {.most = 0}), "at least 1");
  EXPECT_TELLS(wrong(head::yolov8, {tensor::type({1, 84, 8400}, tensor::number::int64)}), "int64 (1, 84, 8400)");
  EXPECT_THROW(decoded(head::yolov10, 1, 7, std::vector<float>(7)), std::invalid_argument);
  EXPECT_THROW(decoded(head::classes, 7, 1, std::vector<float>(7)), std::invalid_argument);
}

TEST(Heads, Defaults) {
  const auto score = [](head as) { return *decode::with_defaults(as, {}).score; };
  const auto overlap = [](head as) { return *decode::with_defaults(as, {}).overlap; };
  const auto most = [](head as) { return *decode::with_defaults(as, {}).most; };
  EXPECT_EQ(score(head::yolov5), 0.25f);
  EXPECT_EQ(score(head::ssd), 0.5f);
  EXPECT_EQ(overlap(head::yolov5), 0.45f);
  EXPECT_EQ(overlap(head::yolov8), 0.7f);
  EXPECT_EQ(overlap(head::ssd), 0.45f);
  EXPECT_EQ(most(head::yolov5), 1000);
  EXPECT_EQ(most(head::yolov8), 300);
  EXPECT_EQ(most(head::ssd), 200);
  EXPECT_EQ(*decode::with_defaults(head::ssd, {.score = 0.1f, .most = 7}).score, 0.1f);
}
