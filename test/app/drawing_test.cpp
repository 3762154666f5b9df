// Drawings, pixel by pixel, and their files.
#include "dice/app/drawing.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace dice;
using app::rgb;
using app::rgb_picture;
using decode::box;
namespace fs = std::filesystem;

namespace {

constexpr rgb grey{100, 100, 100};

/// The pixels that a drawing has changed: the smallest rectangle around them.
app::detail::rectangle changed(const rgb_picture& p, rgb from = grey) {
  app::detail::rectangle r{p.width, p.height, 0, 0};
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x)
      if (p.at(x, y) != from)
        r = {std::min(r.left, x), std::min(r.top, y), std::max(r.right, x + 1), std::max(r.bottom, y + 1)};
  return r;
}

std::array<int, 4> sides(const app::detail::rectangle& r) { return {r.left, r.top, r.right, r.bottom}; }

int distance(rgb a, rgb b) { return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue); }

struct drawing_folder {
  fs::path path = fs::temp_directory_path() / ("dice_drawing_" + std::to_string(::getpid()));
  drawing_folder() {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~drawing_folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

std::string refusal(const std::string& path) {
  try {
    app::write_picture(path, rgb_picture(2, 2));
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

}  // namespace

TEST(Drawing, ABoxIsALineAroundItsPixels) {
  rgb_picture p(200, 100, grey);
  const std::vector<box> one{{50, 40, 100, 30, 0.91f, 3}};
  app::draw_boxes(p, one);
  const auto colour = app::colour_of(3);
  for (int x = 50; x < 150; ++x) {
    EXPECT_EQ(p.at(x, 40), colour);
    EXPECT_EQ(p.at(x, 69), colour);
  }
  for (int y = 40; y < 70; ++y) {
    EXPECT_EQ(p.at(50, y), colour);
    EXPECT_EQ(p.at(149, y), colour);
  }
  EXPECT_EQ(p.at(51, 41), grey);
  EXPECT_EQ(p.at(148, 68), grey);
  const auto r = changed(p);
  EXPECT_EQ(sides(r), (std::array<int, 4>{50, 29, 150, 70}));  // with the label above
}

TEST(Drawing, BoxesEndAtTheNearestPixels) {
  rgb_picture p(200, 100, grey);
  app::draw_boxes(p, std::vector<box>{{50.6f, 40.6f, 99, 29, 1, 3}});
  EXPECT_EQ(sides(changed(p)), (std::array<int, 4>{51, 30, 150, 70}));
}

TEST(Drawing, ALabelIsText) {
  const std::vector<std::string> labels{"up"};
  const char* const expected[]{"###########################################",  //
                               "###########################################",  //
                               "###################### #######  ####  #####",  //
                               "#####################  ###### ## ## ## ####",  //
                               "## ## ##   ########### ###### #  ## #  ####",  //
                               "## ## ## ## ########## ######  # ##  # ####",  //
                               "## ## ## ## ########## ###### ## ## ## ####",  //
                               "## ## ## ## ########## ###### ## ## ## ####",  //
                               "###  ###   ##########   ## ###  ####  #####",  //
                               "######## ##################################",  //
                               "######## ##################################"};
  for (const int scale : {1, 2}) {  // letters grow with the picture
    rgb_picture p(480 * scale - 1, 240 * scale, grey);
    app::draw_boxes(p, std::vector<box>{{50, 40, 100, 30, 1, 0}}, labels);
    for (int y = 0; y < 11 * scale; ++y)
      for (int x = 0; x < 43 * scale; ++x)
        ASSERT_EQ(p.at(50 + x, 40 - 11 * scale + y),
                  expected[y / scale][x / scale] == '#' ? app::colour_of(0) : (rgb{255, 255, 255}))
            << scale << " " << x << " " << y;
    EXPECT_EQ(sides(changed(p)), (std::array<int, 4>{50, 40 - 11 * scale, 150, 70}));
  }
}

TEST(Drawing, LabelsStayInside) {
  const std::vector<std::string> labels{"person", std::string(5000, 'w')};
  const int label_height = 11;
  for (const auto& [b, area] : {std::pair{box{0, 0, 10, 10, 0.5f, 0}, "left above"},
                                {{190, 90, 30, 30, 0.5f, 0}, "right below"},
                                {{-50, -50, 500, 500, 0.5f, 0}, "larger than the picture"},
                                {{100, 3, 20, 20, 0.5f, 0}, "no room above"},
                                {{20, 50, 20, 20, 0.5f, 1}, "too long"}}) {
    rgb_picture p(200, 100, grey);
    app::draw_boxes(p, {&b, 1}, labels);
    int whole = 0;  // rows of the label in full width
    const int width = std::min(
        app::detail::text_width(app::detail::drawable(labels[static_cast<std::size_t>(b.class_index)]) + " 0.50") + 4, 190);
    for (int y = 0; y < p.height; ++y) {
      int run = 0, best = 0;
      for (int x = 0; x < p.width; ++x) best = std::max(best, run = p.at(x, y) == grey ? 0 : run + 1);
      whole += best >= width;
    }
    EXPECT_GE(whole, label_height) << area;
  }
  rgb_picture p(200, 100, grey);
  const box low_enough{20, static_cast<float>(label_height), 150, 30, 0.5f, 0};
  app::draw_boxes(p, {&low_enough, 1}, labels);
  EXPECT_EQ(changed(p).top, 0) << "above the box";
}

TEST(Drawing, LabelsThatAreTooLongEndEarlierBeforeTheirScore) {
  std::string fits;
  while (app::detail::text_width(fits + "w 0.50") + 4 <= 200) fits += 'w';
  const auto drawn = [](const std::string& label) {
    rgb_picture p(200, 100, grey);
    app::draw_boxes(p, std::vector<box>{{20, 50, 20, 20, 0.5f, 0}}, std::vector<std::string>{label});
    return p.pixels;
  };
  EXPECT_TRUE(drawn(std::string(5000, 'w')) == drawn(fits));
  EXPECT_FALSE(drawn(fits) == drawn(fits.substr(1)));
}

TEST(Drawing, BoxesOutsideAreNotDrawn) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  rgb_picture p(20, 20, grey);
  app::draw_boxes(p, std::vector<box>{{30, 5, 9, 9, 1, 0},
                                      {-30, 5, 9, 9, 1, 0},
                                      {5, 30, 9, 9, 1, 0},
                                      {5, -30, 9, 9, 1, 0},
                                      {nan, nan, nan, nan, 1, 0},
                                      {inf, 0, inf, 5, 1, 0},
                                      {5, 5, 0, 0, 1, 0}});
  EXPECT_EQ(sides(changed(p)), (std::array<int, 4>{20, 20, 0, 0}));
}

TEST(Drawing, TheFirstBoxIsOnTop) {
  rgb_picture p(100, 100, grey);
  app::draw_boxes(p, std::vector<box>{{10, 30, 60, 60, 0.9f, 1}, {10, 30, 60, 60, 0.8f, 2}});
  EXPECT_EQ(p.at(40, 89), app::colour_of(1));
}

TEST(Drawing, LabelsFromFilesAreMadeAscii) {
  EXPECT_EQ(app::detail::drawable("cat"), "cat");
  EXPECT_EQ(app::detail::drawable("a\x1b[2J\n"), "a\\x1b[2J\\x0a");
  EXPECT_EQ(app::detail::drawable("Bär 猫"), "B?r ?");
  EXPECT_EQ(app::detail::drawable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_LE(app::detail::drawable(std::string(1 << 20, '\x01')).size(), 1024u);
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  rgb_picture p(900, 900, grey);
  const std::vector<std::string> labels{all};
  app::draw_boxes(p, std::vector<box>{{1, 100, 50, 50, 1, 0}, {1, 300, 50, 50, 1, -5}}, labels);
}

TEST(Drawing, ColoursOfClassesDiffer) {
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < a; ++b) EXPECT_GE(distance(app::colour_of(a), app::colour_of(b)), 40) << a << " " << b;
  EXPECT_EQ(app::colour_of(-3), app::colour_of(0));
}

TEST(Drawing, AMaskIsMixedIn) {
  rgb_picture p(4, 4, grey);
  const decode::mask m{2, 2, {0, 1, -1, 2}, {1, 1, 1}, 1};
  app::draw_mask(p, m, app::stretched(p, 2, 2), 0.25f);
  const auto colour = app::colour_of(1);
  const auto mixed = [](int a, int b) { return static_cast<std::uint8_t>(std::lround(0.75 * a + 0.25 * b)); };
  const rgb expected{mixed(100, colour.red), mixed(100, colour.green), mixed(100, colour.blue)};
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) {
      if (x < 2) EXPECT_EQ(p.at(x, y), grey);  // the background, and pixels of no class
      else if (y < 2) EXPECT_EQ(p.at(x, y), expected);
      else EXPECT_NE(p.at(x, y), grey);
    }
  rgb_picture all(4, 4, grey);
  app::draw_mask(all, m, app::stretched(all, 2, 2), 1, -1);
  EXPECT_EQ(all.at(0, 0), app::colour_of(0));
  EXPECT_EQ(all.at(3, 3), app::colour_of(2));
  EXPECT_EQ(all.at(0, 3), grey);
}

TEST(Drawing, AnInputLiesInItsPictureAsItWasResized) {
  // 200×100 pixels become 100×50, centred in 100×100.
  const auto fit =
      frames::axes_of(200, 100, {.channels = 3, .height = 100, .width = 100, .fit = frames::fit_mode::letterbox});
  EXPECT_EQ(app::in_picture({{10, 35, 20, 5, 1, 0}}, fit), (std::vector<box>{{20, 20, 40, 10, 1, 0}}));
  rgb_picture p(200, 100, grey);
  decode::mask m{10, 10, std::vector<std::int32_t>(100, 0), {100}, 0};
  m.classes[25] = 1;  // 50 … 59 by 20 … 29 of the input, of which the picture is 25 … 74
  app::draw_mask(p, m, fit);
  EXPECT_EQ(sides(changed(p)), (std::array<int, 4>{100, 0, 120, 10}));
  // 224×112 pixels become 512×256, of which the middle 224×224 are taken.
  const auto crop = frames::axes_of(224, 112, {.channels = 3, .height = 224, .width = 224});
  const auto b = app::in_picture({{0, 0, 224, 224, 1, 0}}, crop)[0];
  EXPECT_FLOAT_EQ(b.x, 63);
  EXPECT_FLOAT_EQ(b.y, 7);
  EXPECT_FLOAT_EQ(b.width, 98);
  EXPECT_FLOAT_EQ(b.height, 98);
  rgb_picture q(224, 112, grey);
  app::draw_mask(q, {2, 2, {1, 1, 1, 1}, {0, 4}, 0}, crop);
  EXPECT_EQ(sides(changed(q)), (std::array<int, 4>{63, 7, 161, 105}));
}

TEST(Drawing, PicturesComeBackFromFiles) {
  const drawing_folder f;
  rgb_picture p(31, 17);
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 31; ++x) p.at(x, y) = {static_cast<std::uint8_t>(8 * x), static_cast<std::uint8_t>(15 * y), 77};
  for (const char* name : {"a.png", "b.PNG", "c.jpg", "d.JpEg"}) {
    for (const auto how : {app::lasting::stays, app::lasting::replaced, app::lasting::replaced})
      app::write_picture(f / name, p, how);
    const auto again = app::read_rgb(f / name);
    ASSERT_EQ(again.width, 31);
    ASSERT_EQ(again.height, 17);
    for (std::size_t i = 0; i < p.pixels.size(); ++i)
      if (name[2] == 'p' || name[2] == 'P') ASSERT_EQ(again.pixels[i], p.pixels[i]) << name;
      else ASSERT_LE(distance(again.pixels[i], p.pixels[i]), 40) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(f.path), {}), 4);  // no temporary files
}

TEST(Drawing, NamesThatAreNoPicturesAreRefused) {
  const drawing_folder f;
  for (const char* name : {"a.bmp", "png", "a.png.txt", "a", "jpg."})
    EXPECT_EQ(refusal(f / name),
              "'" + (f / name) + "' cannot be written: the name of a picture must end in .jpg, .jpeg or .png");
  EXPECT_NE(refusal(f / "no/such.png").find("No such file"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(f.path));
}

TEST(Drawing, FramesAreShownAsTheyWereBeforeTheyWereNormalised) {
  const frames::picture_form colours{
      .channels = 3, .height = 1, .width = 2, .mean = {0.5f, 0, 0.25f}, .deviation = {0.5f, 1, 2}};
  const std::vector<float> frame{1, -1, 0.2f, 0, 0, std::nanf("")};
  const auto p = app::rgb_of(frame.data(), colours);
  EXPECT_EQ(p.at(0, 0), (rgb{255, 51, 64}));
  EXPECT_EQ(p.at(1, 0), (rgb{0, 0, 0}));
  const frames::picture_form bytes{.channels = 1, .height = 1, .width = 2};
  const std::vector<float> grey_frame{7, 300};
  EXPECT_EQ(app::rgb_of(grey_frame.data(), bytes).at(0, 0), (rgb{7, 7, 7}));
  EXPECT_EQ(app::rgb_of(grey_frame.data(), bytes).at(1, 0), (rgb{255, 255, 255}));
  const frames::picture_form numbers{.channels = 1, .height = 1, .width = 2, .range = 255, .mean = {5}, .deviation = {2}};
  EXPECT_EQ(app::rgb_of(grey_frame.data(), numbers).at(0, 0), (rgb{19, 19, 19})) << "7 · 2 + 5 of 255";
  const frames::picture_form blue_first{
      .channels = 3, .height = 1, .width = 1, .bgr = true, .mean = {0, 0.5f, 0}, .deviation = {1, 1, 2}};
  const std::vector<float> of_blue{0.2f, 0.1f, 0.2f};
  EXPECT_EQ(app::rgb_of(of_blue.data(), blue_first).at(0, 0), (rgb{102, 153, 51}));
}
