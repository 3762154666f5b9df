// Which numbers --check-numbers refuses, and what it says. Whole programs: test/app.
#include "dice/runtime/number_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
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
  EXPECT_EQ(found({1, 1, 1, 1, 1, nan}, {1, 1, 1, 2, 3}, tensor::layout::plain), "it holds NaN at [0, 0, 0, 1, 2]; mend it");
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
  // Of 1 a mask 2 is made, which chooses 3 or the other operand; 6 is a mask, too, but 8 also reads it; nothing reads 11;
  // the last layer chooses by 12.
  const char* const ops[] = {"Input", "Div", "Mul",    "Relu",   "Where", "Output", "Div",
                             "Where", "Add", "Output", "Output", "Div",   "Div",    "Where"};
  const std::vector<std::vector<int>> reads{{}, {0}, {1}, {0}, {3, 2}, {4}, {0}, {6}, {6, 0}, {7}, {8}, {0}, {0}, {3, 12}};
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
  for (const int mask : {1, 2, 12}) {
    EXPECT_EQ(found(mask, nan), "") << mask;
    EXPECT_EQ(found(mask, inf), "it holds inf at [0]; mend it") << mask;
  }
  for (const int other : {3, 4, 6, 7, 8, 11, 13}) EXPECT_EQ(found(other, nan), "it holds NaN at [0]; mend it") << other;
}

/// The step that computes '/c' and, if `fuses`, '/r' after it.
struct computed {
  std::vector<graph::layer_info> layers = std::vector<graph::layer_info>(3);
  std::vector<schedule::group> groups{{.anchor = 1, .rank = 1}};
  std::vector<parts::part> parts;
  platform::unit units[2]{{}, {}};
  float x = nan;

  std::string found(bool fuses = false) {
    layers[1].onnx_name = "/c";
    layers[2].onnx_name = "/r";
    layers[1].output = layers[2].output = {1};
    groups[0].activation = fuses ? 2 : -1;
    runtime::program p{};
    p.layers = {layers, {}};
    p.parts = parts;
    p.whole_layers = p.layers;
    p.plan.groups = groups;
    p.units = units;
    try {
      runtime::require_finite_result(p, {.layer = fuses ? 2 : 1, .group = 0, .part = {{}, {1, 1, 1, 1}}}, &x);
      return {};
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
};

TEST(number_check, names_the_layers_of_a_result) {
  const std::string why = "; its inputs are finite, so look at its weights, and at the scale of the frames";
  computed c;
  EXPECT_EQ(c.found(), "its result holds NaN at [0]" + why);
  EXPECT_EQ(c.found(true), "the result of '/c' + '/r' holds NaN at [0]" + why);
  c.units[0].precision = platform::numbers::fp16;  // of another rank
  EXPECT_EQ(c.found(), "its result holds NaN at [0]" + why);
  c.units[1].precision = platform::numbers::bf16;
  EXPECT_EQ(c.found(), "its result holds NaN at [0]" + why);
  c.units[1].precision = platform::numbers::fp16;
  EXPECT_EQ(c.found(),
            "its result holds NaN at [0]" + why + "; or compute it with bf16 or float32, since fp16 ends at 65504");
  c.units[1] = {};
  c.groups[0].rank = 2;  // which has no unit
  EXPECT_EQ(c.found(), "its result holds NaN at [0]" + why);
  c.parts.resize(3);
  for (int l = 0; l < 3; ++l) c.parts[l].layer = l;
  EXPECT_EQ(c.found(), "its result holds NaN at [0]" + why);
  c.parts[1].from = 16;
  c.parts[1].to = 24;
  EXPECT_EQ(c.found(), "the result of '/c' over input channels 16-23 holds NaN at [0]" + why);
  c.parts[1].to = 0;
  c.parts[1].box = {{5, 0, 0, 0}, {6, 1, 1, 1}};
  EXPECT_EQ(c.found(), "its result holds NaN at [5]" + why);
  c.x = 1;
  EXPECT_EQ(c.found(), "");
}

TEST(number_check, names_what_enters) {
  std::vector<graph::layer_info> layers(2);
  layers[1].output = {2, 3};
  runtime::program p{};
  p.layers = {layers, {}};
  const float x[]{0, 0, 0, 0, 0, -inf};
  try {
    runtime::require_finite_input(p, 1, x);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()).find("the input itself holds -inf at [1, 2]; correct the frames, or what converts them"),
              0u);
  }
}

}  // namespace
