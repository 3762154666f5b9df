// Pictures as cameras give them, compared with what ffmpeg and OpenCV make of the same picture (pixels/make.py).
#include "dice/frames/pixels.hpp"
#include "dice/frames/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace dice;

namespace {

constexpr int width = 46, height = 36;

std::vector<std::uint8_t> raw(std::string_view word) {
  std::ifstream in(DICE_TEST_PIXELS "/" + std::string(word) + ".raw", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
frames::tensor reference(std::string_view word) {
  return frames::read_frames(DICE_TEST_PIXELS "/" + std::string(word) + ".npy", {1, 3, height, width}, "reference",
                             tensor::number::uint8);
}
/// A form whose numbers are samples from 0 to 255.
frames::picture_form samples(int channels = 3) {
  return {.channels = channels,
          .height = height,
          .width = width,
          .range = 255,
          .mean = std::vector<float>(static_cast<std::size_t>(channels), 0),
          .deviation = std::vector<float>(static_cast<std::size_t>(channels), 1)};
}
std::vector<float> convert(frames::pixel_format format, const frames::picture_form& form) {
  frames::pixel_converter converter({format, width, height}, form);
  std::vector<float> out(static_cast<std::size_t>(form.elements()), -1);
  converter.convert(raw(frames::pixel_words[static_cast<std::size_t>(format)]).data(), out.data());
  return out;
}

constexpr auto all = {frames::pixel_format::rgb24, frames::pixel_format::bgr24,   frames::pixel_format::gray8,
                      frames::pixel_format::nv12,  frames::pixel_format::yuv420p, frames::pixel_format::yuyv422};

}  // namespace

TEST(pixels, are_as_opencv_reads_them) {
  for (const auto format : all) {
    const auto word = frames::pixel_words[static_cast<std::size_t>(format)];
    ASSERT_EQ(static_cast<std::int64_t>(raw(word).size()), (frames::pixel_layout{format, width, height}.bytes())) << word;
    const auto found = convert(format, samples());
    const auto expected = reference(word);
    const bool exact = format < frames::pixel_format::nv12;  // the others are rounded twice
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected.data()[i], exact ? 1e-4f : 1.001f) << word << " " << i;
  }
}

TEST(pixels, become_grey) {
  const auto from_grey = convert(frames::pixel_format::gray8, samples(1)),
             colours = convert(frames::pixel_format::rgb24, samples());
  const auto grey = raw("gray8");
  const std::size_t n = width * height;
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(from_grey[i], grey[i], 1e-4f);
  for (const auto format : all) {  // by BT.601's weights
    const auto found = convert(format, samples(1));
    ASSERT_EQ(found.size(), n);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_NEAR(found[i], 0.299f * colours[i] + 0.587f * colours[n + i] + 0.114f * colours[2 * n + i], 2.5f) << i;
  }
}

TEST(pixels, in_the_order_layout_and_numbers_of_the_input) {
  auto form = samples();
  const auto plain = convert(frames::pixel_format::rgb24, form);
  form.bgr = true;
  form.mean = {1, 2, 3};
  form.deviation = {4, 5, 6};
  form.range = 1;
  const auto first = convert(frames::pixel_format::rgb24, form);
  form.channels_last = true;
  const auto last = convert(frames::pixel_format::rgb24, form);
  constexpr std::size_t n = width * height;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < n; ++i) {
      const auto wanted = (plain[(2 - c) * n + i] / 255 - static_cast<float>(c + 1)) / static_cast<float>(c + 4);
      ASSERT_NEAR(first[c * n + i], wanted, 1e-5f);
      ASSERT_EQ(last[3 * i + c], first[c * n + i]);
    }
}

/// ImageNet's numbers follow range and order.
TEST(pixels, default_numbers) {
  frames::picture_settings s;
  s.range = 255;
  s.bgr = true;
  const auto form = frames::form_of({1, 3, 8, 8}, "input 'x'", s);
  EXPECT_NEAR(form.mean[0], 0.406f * 255, 1e-4f);
  EXPECT_NEAR(form.mean[2], 0.485f * 255, 1e-4f);
  EXPECT_NEAR(form.deviation[0], 0.225f * 255, 1e-4f);
  const auto grey = frames::form_of({1, 1, 8, 8}, "input 'x'", s);
  EXPECT_EQ(grey.mean[0], 0);
  EXPECT_EQ(grey.deviation[0], 255);
}

TEST(pixels, letterbox_and_back) {
  auto form = samples();
  form.height = form.width = 92;  // twice the width
  form.fit = frames::fit_mode::letterbox;
  form.border = 114;
  frames::pixel_converter converter({frames::pixel_format::rgb24, width, height}, form);
  std::vector<float> out(static_cast<std::size_t>(form.elements()), -1);
  converter.convert(raw("rgb24").data(), out.data());
  const auto [x, y] = converter.axes();
  EXPECT_EQ(y.margin(), 10);
  for (int row : {0, 9, 82, 91}) EXPECT_NEAR(out[static_cast<std::size_t>(form.index(1, row, 40))], 114, 1e-3f) << row;
  EXPECT_NEAR(x.in_picture(92), 46, 1e-9);
  EXPECT_NEAR(x.in_picture(0), 0, 1e-9);
  EXPECT_NEAR(y.in_picture(10), 0, 1e-9);
  EXPECT_NEAR(y.in_picture(82), 36, 1e-9);
  form.fit = frames::fit_mode::crop;
  const auto cropped = frames::axes_of(640, 480, form).first;  // 140 pixels long, of which the middle 92
  EXPECT_EQ(cropped.scaled, 140);
  EXPECT_NEAR(cropped.in_picture(46), 320, 1e-9);
}

TEST(pixels, sizes_that_formats_cannot_have) {
  using frames::pixel_format;
  EXPECT_EQ((frames::pixel_layout{pixel_format::rgb24, 5, 3}.mistake()), "");
  EXPECT_EQ((frames::pixel_layout{pixel_format::yuyv422, 6, 3}.mistake()), "");
  EXPECT_EQ((frames::pixel_layout{pixel_format::yuyv422, 5, 4}.mistake()), "yuyv422 needs an even width, not 5");
  EXPECT_EQ((frames::pixel_layout{pixel_format::nv12, 5, 4}.mistake()), "nv12 needs an even width, not 5");
  EXPECT_EQ((frames::pixel_layout{pixel_format::nv12, 6, 3}.mistake()), "nv12 needs an even height, not 3");
  EXPECT_EQ((frames::pixel_layout{pixel_format::yuv420p, 6, 3}.mistake()), "yuv420p needs an even height, not 3");
  EXPECT_EQ((frames::pixel_layout{pixel_format::nv12, 6, 4}.bytes()), 36);
  EXPECT_EQ((frames::pixel_layout{pixel_format::yuyv422, 6, 4}.bytes()), 48);
}

TEST(pixels, as_colours) {
  const frames::pixel_converter converter({frames::pixel_format::bgr24, width, height}, samples());
  EXPECT_EQ(converter.colours(raw("bgr24").data()), raw("rgb24"));
}
