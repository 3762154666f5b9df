// Results as xtensor's tensors: each kind gives what plain numbers give.
#include <dice/decode.hpp>

#include <gtest/gtest.h>

#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

using namespace dice;
using decode::box;
using decode::head;

namespace {

const std::vector<box> one_box{{8, 17, 4, 6, 0.75f, 1}};

std::vector<box> first(const std::vector<decode::found_boxes>& found) {
  EXPECT_EQ(found.size(), 1u);
  return found[0].boxes;
}

}  // namespace

TEST(Tensors, BoxesOfEveryKindOfTensor) {
  const xt::xarray<float> row{{{10, 20, 4, 6, 0.25f, 0.75f}}};
  const decode::options two{.classes = 2};
  EXPECT_EQ(first(decode::boxes(head::yolov8, row, two)), one_box);
  EXPECT_EQ(first(decode::boxes(head::yolov8, xt::xtensor<double, 3>(row), two)), one_box);
  EXPECT_EQ(first(decode::boxes(head::yolov8, xt::xarray<float, xt::layout_type::column_major>(row), two)), one_box);
  EXPECT_EQ(first(decode::boxes(head::yolov8, row * 1.0f, two)), one_box);
  EXPECT_EQ(first(decode::boxes(head::yolov8,
                                xt::adapt(row.data(), 6, xt::no_ownership(), std::array<std::size_t, 3>{1, 1, 6}), two)),
            one_box);
  xt::xarray<float> many = xt::zeros<float>({3, 1, 6});
  xt::view(many, 1) = xt::view(row, 0);
  EXPECT_EQ(first(decode::boxes(head::yolov8, xt::view(many, xt::range(1, 2)), two)), one_box);
  EXPECT_EQ(first(decode::boxes(head::yolov8, xt::view(many, xt::range(1, 3, 2)), two)), one_box);
  EXPECT_EQ(decode::boxes(head::yolov8, many, two).size(), 3u);
  EXPECT_THROW(decode::boxes(head::yolov8, many), std::invalid_argument);
}

TEST(Tensors, BoxesOfTwoResults) {
  const xt::xarray<float> corners{{{0, 0, 0.5f, 1}}}, scores{{{0.25f, 0.75f}}};
  EXPECT_EQ(first(decode::boxes(head::ssd, corners, scores, {.width = 20, .height = 10})),
            (std::vector<box>{{0, 0, 10, 10, 0.75f, 0}}));
}

TEST(Tensors, ClassesAndMasks) {
  const xt::xarray<float> x{{0.25f, 0.75f}, {1, 0}};
  const auto found = decode::classes(x, {.most = 1});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].classes, (std::vector<decode::class_score>{{1, 0.75f}}));
  const xt::xarray<std::int64_t> indices{{{2, 0}, {1, 2}}};
  EXPECT_EQ(decode::masks(indices)[0].counts, (std::vector<std::int64_t>{1, 1, 2}));
  const xt::xarray<bool> something{{{true, false}}};
  EXPECT_EQ(decode::masks(something)[0].classes, (std::vector<std::int32_t>{1, 0}));
  EXPECT_THROW(decode::masks(x), std::invalid_argument);
}
