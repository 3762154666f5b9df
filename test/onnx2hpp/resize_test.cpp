// Resize that interpolates: modes, sizes, scales, refusals.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

namespace onnx2hpp_test {
namespace {

using namespace dice;

/// Resize of {1, 2, 3, 4} by scales or to sizes.
builder resize(int opset, std::vector<float> scales, std::vector<std::int64_t> sizes = {}) {
  builder b(opset);
  b.input("x", {1, 2, 3, 4}).output("y").floats("scales", {static_cast<std::int64_t>(scales.size())}, scales);
  if (sizes.empty()) b.node("Resize", {"x", "", "scales"}, {"y"});
  else b.ints("sizes", sizes).node("Resize", {"x", "", "", "sizes"}, {"y"});
  return b;
}
TEST(Resize, ModesAndCoordinates) {
  auto b = resize(19, {1, 1, 2, 1.5f});
  EXPECT_EQ(first<ops::resize>(convert(b)).mode, ops::resizing::nearest);
  EXPECT_EQ(first<ops::resize>(convert(b)).from, ops::coordinates::half_pixel);
  EXPECT_EQ(first<ops::resize>(convert(b)).to, (shape{1, 2, 6, 6}));
  set(node_of(b), "mode", "cubic"), set(node_of(b), "coordinate_transformation_mode", "align_corners");
  set(node_of(b), "cubic_coeff_a", -0.5f), set(node_of(b), "exclude_outside", 1), set(node_of(b), "nearest_mode", "ceil");
  const auto op = first<ops::resize>(convert(b));
  EXPECT_EQ(op.mode, ops::resizing::cubic);
  EXPECT_EQ(op.from, ops::coordinates::align_corners);
  EXPECT_EQ(op.nearest, ops::rounding::ceil);
  EXPECT_EQ(op.cubic_a, -0.5f);
  EXPECT_TRUE(op.exclude_outside);
  EXPECT_EQ(op.scales[3], 1.5f);
  builder old(10);
  old.input("x", {1, 2, 3, 4}).output("y").floats("scales", {4}, {1, 1, 2, 2});
  set(old.node("Resize", {"x", "scales"}, {"y"}), "mode", "linear");
  EXPECT_EQ(first<ops::resize>(convert(old)).from, ops::coordinates::asymmetric);
  EXPECT_EQ(first<ops::resize>(convert(old)).mode, ops::resizing::linear);
}

/// The first and the last elements stay in place, and the others are evenly between, as in PyTorch and ONNX Runtime.
TEST(Resize, AlignsCornersOfARoundedExtent) {
  const auto sampled = [](float scale, int last) {
    auto b = resize(19, {1, 1, 1, scale});
    set(node_of(b), "mode", "linear"), set(node_of(b), "coordinate_transformation_mode", "align_corners");
    std::vector<float> x;
    for (int k = 0; k < 24; ++k) x.push_back(static_cast<float>(k % 4));
    auto y = computed(convert(b), {{"x", x}}).at("y");
    y.resize(static_cast<std::size_t>(last) + 1);
    return y;
  };
  EXPECT_EQ(sampled(1.9f, 6), (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f, 3}));
  EXPECT_EQ(sampled(0.8f, 2), (std::vector<float>{0, 1.5f, 3}));
}

/// Extents times the common scale, rounded to the nearest, halves up (ONNX, Resize): 3 · 0.5 to 2, 5 · 0.5 to 3, 5 · 2 / 3
/// to 3 and 4 · 2 / 3 to 3.
TEST(Resize, KeepsTheAspectRatio) {
  const auto to = [](std::vector<std::int64_t> extents, std::vector<std::int64_t> sizes, const char* policy) {
    builder b(18);
    b.input("x", {1, 1, extents[0], extents[1]}).output("y").ints("sizes", sizes);
    auto& n = b.node("Resize", {"x", "", "", "sizes"}, {"y"});
    set(n, "axes", {2, 3}), set(n, "keep_aspect_ratio_policy", policy);
    const auto y = result(convert(b));
    return std::vector<std::int64_t>{y[2], y[3]};
  };
  using extents = std::vector<std::int64_t>;
  EXPECT_EQ(to({2, 3}, {1, 9}, "not_larger"), (extents{1, 2}));
  EXPECT_EQ(to({2, 5}, {1, 9}, "not_larger"), (extents{1, 3}));
  EXPECT_EQ(to({2, 5}, {1, 1}, "not_smaller"), (extents{1, 3}));
  EXPECT_EQ(to({3, 5}, {2, 9}, "not_larger"), (extents{2, 3}));
  EXPECT_EQ(to({3, 4}, {2, 9}, "not_larger"), (extents{2, 3}));
  EXPECT_EQ(to({3, 4}, {2, 9}, "not_smaller"), (extents{7, 9}));
  EXPECT_EQ(to({3, 4}, {2, 9}, "stretch"), (extents{2, 9}));
}

TEST(Resize, ExtentsAreProductsOfFloat32) {
  builder b(19);
  b.input("x", {1, 1, 10, 30}).output("y").floats("scales", {4}, {1, 1, 0.7f, 1.1f});
  b.node("Resize", {"x", "", "scales"}, {"y"});
  EXPECT_EQ(result(convert(b)), (shape{1, 1, 7, 33}));  // 0.7f is a little less than 0.7
}

TEST(Resize, SizesKeepTheAspectRatioIfAsked) {
  const auto to = [](const char* policy) {
    auto b = resize(18, {}, {1, 2, 6, 12});
    set(node_of(b), "mode", "linear"), set(node_of(b), "keep_aspect_ratio_policy", policy);
    set_list(node_of(b), "axes", {0, 1, 2, 3});
    return convert(b).layers.back().result;
  };
  EXPECT_EQ(to("stretch"), (shape{1, 2, 6, 12}));
  EXPECT_EQ(to("not_larger"), (shape{1, 2, 3, 4}));
  EXPECT_EQ(to("not_smaller"), (shape{3, 6, 9, 12}));
}

TEST(Resize, CropsAndResizes) {
  builder b(19);
  b.input("x", {1, 2, 3, 4}).output("y").ints("sizes", {1, 2, 5, 6});
  b.floats("roi", {8}, {0, 0, 0.25f, 0.5f, 1, 1, 0.75f, 1.25f});
  auto& n = b.node("Resize", {"x", "roi", "", "sizes"}, {"y"});
  set(n, "mode", "linear"), set(n, "coordinate_transformation_mode", "tf_crop_and_resize"),
      set(n, "extrapolation_value", 9.0f);
  const auto op = first<ops::resize>(convert(b));
  EXPECT_EQ(op.begin[2], 0.25f);
  EXPECT_EQ(op.end[3], 1.25f);
  EXPECT_EQ(op.extrapolation, 9);
}

TEST(Resize, Antialias) {
  auto b = resize(19, {1, 0.5f, 1.5f, 0.25f});
  for (const auto& [name, value] : {std::pair("mode", "cubic"), {"coordinate_transformation_mode", "align_corners"}})
    set(node_of(b), name, value);
  set(node_of(b), "antialias", 1);
  set(node_of(b), "exclude_outside", 1);
  set(node_of(b), "cubic_coeff_a", -0.5f);
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "AntialiasedResize AntialiasedResize AntialiasedResize");
  const int order[] = {1, 3, 2};  // those that shrink come first
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& op = *net.layers[k + 1].op.get_if<ops::antialiased_resize>();
    EXPECT_EQ(op.axis, order[k]);
    EXPECT_EQ(op.to, result(net)[op.axis]);
    EXPECT_TRUE(op.exclude_outside && op.mode == ops::resizing::cubic && op.cubic_a == -0.5f);
    EXPECT_EQ(op.from, ops::coordinates::align_corners);
  }
  set(node_of(b = resize(19, {1, 1, 2, 3})), "antialias", 1);
  set(node_of(b), "mode", "linear");
  EXPECT_EQ(operators(convert(b)), "Resize") << "nothing shrinks";
}

TEST(Resize, Refuses) {
  const auto refusal = [](const char* attribute, const char* value, float scale) {
    auto b = resize(19, {1, 1, 1, scale});
    if (attribute) set(node_of(b), attribute, value);
    return problems(b);
  };
  EXPECT_EQ(refusal(nullptr, "", 3), "");
  EXPECT_EQ(refusal("nearest_mode", "ceil", 1), "");
  auto same = resize(19, {1, 1, 1, 1});
  set(node_of(same), "mode", "cubic");
  EXPECT_EQ(operators(convert(same)), "") << "nothing changes";
  EXPECT_NE(refusal("mode", "area", 2).find("its mode is \"area\", which is not supported"), std::string::npos);
  EXPECT_NE(refusal("mode", "repeat", 2).find("its mode is \"repeat\""), std::string::npos);
  EXPECT_NE(refusal("nearest_mode", "other", 2).find("its nearest_mode is \"other\""), std::string::npos);
  EXPECT_NE(refusal("coordinate_transformation_mode", "other", 2).find("\"other\", which is not"), std::string::npos);
  EXPECT_NE(refusal(nullptr, "", 1e30f).find("scales an axis by 1e+30; at most 16777216 elements"), std::string::npos);
  EXPECT_NE(refusal(nullptr, "", -1).find("it scales an axis by -1"), std::string::npos);
  EXPECT_NE(refusal(nullptr, "", 0.1f).find("an axis of its result is empty"), std::string::npos);
  auto smooth = resize(19, {1, 1, 1, 0.5f});
  set(node_of(smooth), "antialias", 1);
  EXPECT_EQ(problems(smooth), "");
  set(node_of(smooth), "mode", "linear");
  EXPECT_EQ(problems(smooth), "");
  set(node_of(smooth), "coordinate_transformation_mode", "tf_crop_and_resize");
  EXPECT_NE(problems(smooth), "");
  EXPECT_NE(problems(resize(19, {1, 2})).find("it has 2 scales for 4 axes"), std::string::npos);
  EXPECT_NE(problems(resize(19, {}, {1, 2, 0, 4})).find("one of its sizes is out of range"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
