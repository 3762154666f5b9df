// Resize that interpolates: modes, sizes, scales, refusals.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

#include <limits>

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
TEST(Resize, RepeatsElements) {
  builder b;
  b.input("x", {1, 2, 3, 4}).output("y").floats("scales", {4}, {1, 1, 2, 3});
  auto& n = b.node("Resize", {"x", "", "scales"}, {"y"});
  set(n, "coordinate_transformation_mode", "asymmetric");
  set(n, "nearest_mode", "floor");
  set(n, "cubic_coeff_a", -0.75f);
  EXPECT_EQ(result(convert(b)), (shape{1, 2, 6, 12}));
  EXPECT_EQ(first<ops::resize>(convert(b)).factors[3], 3);
  builder sizes(18);
  sizes.input("x", {1, 2, 3, 4}).output("y").ints("sizes", {16, 3}).ints("axes", {3, -2});
  set(sizes.node("Resize", {"x", "", "", "sizes"}, {"y"}), "axes", {3, -2});
  EXPECT_EQ(result(convert(sizes)), (shape{1, 2, 3, 16}));
  for (const int opset : {9, 10}) {
    builder c(opset);
    c.input("x", {1, 2}).output("y").floats("scales", {2}, {1, 2});
    c.node(opset == 9 ? "Upsample" : "Resize", {"x", "scales"}, {"y"});
    EXPECT_EQ(result(convert(c)), (shape{1, 4}));
  }
  builder old = one("Upsample", {1, 2}, 7);
  auto* scales = node_of(old).add_attribute();
  scales->set_name("scales");
  scales->set_type(onnx::AttributeProto::FLOATS);
  scales->add_floats(1);
  scales->add_floats(4);
  EXPECT_EQ(result(convert(old)), (shape{1, 8}));
  b.floats("none", {4}, {1, 1, 1, 1}).node("Relu", {"y"}, {"r"});
  n.set_input(2, "none");
  b.graph().mutable_output(0)->set_name("r");
  EXPECT_EQ(operators(convert(b)), "Relu") << "by 1 in all axes is nothing";
}

TEST(Resize, ModesAndCoordinates) {
  auto b = resize(19, {1, 1, 2, 1.5f});
  EXPECT_EQ(first<ops::resize>(convert(b)).mode, ops::resizing::nearest);
  EXPECT_EQ(first<ops::resize>(convert(b)).from, ops::coordinates::half_pixel);
  EXPECT_EQ(first<ops::resize>(convert(b)).to, (shape{1, 2, 6, 6}));
  set(node_of(b), "mode", "cubic");
  set(node_of(b), "coordinate_transformation_mode", "align_corners");
  set(node_of(b), "cubic_coeff_a", -0.5f);
  set(node_of(b), "exclude_outside", 1);
  set(node_of(b), "nearest_mode", "ceil");
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
    set(node_of(b), "mode", "linear");
    set(node_of(b), "coordinate_transformation_mode", "align_corners");
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
    set(n, "axes", {2, 3});
    set(n, "keep_aspect_ratio_policy", policy);
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

/// The elements that a row 0, 1, 2 … of `in` elements becomes.
std::vector<float> row(builder& b, std::int64_t in) {
  std::vector<float> x(static_cast<std::size_t>(in));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  return computed(convert(b), {{"x", x}}).at("y");
}

/// At ties, positions are exact: 14 * 9.5 / 19 - 0.5 is 6.5, and 7 / 2 is 3.5.
TEST(Resize, NearestElementsOfSizes) {
  builder b(19);
  b.input("x", {1, 1, 1, 14}).output("y").ints("sizes", {1, 1, 1, 19}).node("Resize", {"x", "", "", "sizes"}, {"y"});
  EXPECT_EQ(row(b, 14), (std::vector<float>{0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12, 12, 13}));
  builder c(19);
  c.input("x", {1, 1, 7}).output("y").ints("sizes", {2});
  set_list(c.node("Resize", {"x", "", "", "sizes"}, {"y"}), "axes", {-1});
  set(node_of(c), "coordinate_transformation_mode", "asymmetric");
  set(node_of(c), "nearest_mode", "round_prefer_ceil");
  EXPECT_EQ(row(c, 7), (std::vector<float>{0, 4}));
  // The smaller scale is 3 / 2, and that of both axes; the second one would be 11 / 7. ONNX: round_half_up(10.5).
  builder d(19);
  d.input("x", {2, 7}).output("y").ints("sizes", {3, 11}).node("Resize", {"x", "", "", "sizes"}, {"y"});
  set(node_of(d), "keep_aspect_ratio_policy", "not_larger");
  set(node_of(d), "coordinate_transformation_mode", "asymmetric");
  set(node_of(d), "nearest_mode", "floor");
  EXPECT_EQ(result(convert(d)), (shape{3, 11}));
  EXPECT_EQ(row(d, 14), (std::vector<float>{0, 0, 1, 2, 2, 3,  4,  4,  5,  6,  6,  //
                                            0, 0, 1, 2, 2, 3,  4,  4,  5,  6,  6,  //
                                            7, 7, 8, 9, 9, 10, 11, 11, 12, 13, 13}));
}

/// ONNX 1.5's test_resize_downsample_nearest: positions are rounded up where an axis shrinks, and down where it grows.
TEST(Resize, NearestElementsOfOpset10) {
  const auto model = [](int opset, std::vector<std::int64_t> x, std::vector<float> scales) {
    builder b(opset);
    b.input("x", x).output("y").floats("scales", {static_cast<std::int64_t>(scales.size())}, scales);
    if (opset == 10) b.node("Resize", {"x", "scales"}, {"y"});
    else {
      set(b.node("Resize", {"x", "", "scales"}, {"y"}), "coordinate_transformation_mode", "asymmetric");
      set(node_of(b), "nearest_mode", "floor");
    }
    return b;
  };
  auto b = model(10, {1, 1, 2, 4}, {1, 1, 0.6f, 0.6f});
  EXPECT_EQ(row(b, 8), (std::vector<float>{0, 2}));
  EXPECT_EQ(first<ops::resize>(convert(b)).nearest, ops::rounding::by_scale);
  b = model(11, {1, 1, 2, 4}, {1, 1, 0.6f, 0.6f});
  EXPECT_EQ(row(b, 8), (std::vector<float>{0, 1}));
  b = model(10, {2, 4}, {1.5f, 0.6f});  // one axis grows
  EXPECT_EQ(row(b, 8), (std::vector<float>{0, 2, 0, 2, 4, 6}));
  b = model(10, {4, 2}, {0.6f, 1});
  EXPECT_EQ(row(b, 8), (std::vector<float>{0, 1, 4, 5}));
  // Of a constant, which the tool computes.
  builder c(10);
  c.input("x", {2}).output("y").floats("c", {4}, {1, 2, 3, 4}).floats("scales", {1}, {0.6f});
  c.node("Resize", {"c", "scales"}, {"r"});
  c.node("Add", {"x", "r"}, {"y"});
  EXPECT_EQ(written(convert(c)), (std::vector<float>{1, 3}));
}

TEST(Resize, TakesWhatHasElementsOfScalesAndSizes) {
  for (const int opset : {11, 13, 18}) {
    const auto model = [&](std::vector<float> scales, std::vector<std::int64_t> sizes) {
      builder b(opset);
      b.input("x", {1, 2, 3, 4}).output("y").floats("scales", {static_cast<std::int64_t>(scales.size())}, scales);
      b.ints("sizes", sizes).node("Resize", {"x", "", "scales", "sizes"}, {"y"});
      return b;
    };
    EXPECT_EQ(result(convert(model({1, 1, 2, 2}, {}))), (shape{1, 2, 6, 8}));
    EXPECT_EQ(result(convert(model({}, {1, 2, 5, 5}))), (shape{1, 2, 5, 5}));
    EXPECT_NE(problems(model({1, 1, 2, 2}, {1, 2, 6, 8})).find("it has scales and sizes, and only one of them may be given"),
              std::string::npos);
    EXPECT_NE(problems(model({}, {})).find("it has neither scales nor sizes"), std::string::npos);
  }
}

TEST(Resize, UpsampleOnlyEnlarges) {
  const auto text = [](float scale) {
    builder b(9);
    b.input("x", {1, 2, 4}).output("y").floats("scales", {3}, {1, 1, scale}).node("Upsample", {"x", "scales"}, {"y"});
    return problems(b);
  };
  EXPECT_EQ(text(1.5f), "");
  EXPECT_NE(text(0.5f).find("it scales an axis by 0.5, and Upsample only enlarges; export the model with opset 11 or later"),
            std::string::npos);
}

TEST(Resize, SizesKeepTheAspectRatioIfAsked) {
  const auto to = [](const char* policy) {
    auto b = resize(18, {}, {1, 2, 6, 12});
    set(node_of(b), "mode", "linear");
    set(node_of(b), "keep_aspect_ratio_policy", policy);
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
  set(n, "mode", "linear");
  set(n, "coordinate_transformation_mode", "tf_crop_and_resize");
  set(n, "extrapolation_value", 9.0f);
  const auto op = first<ops::resize>(convert(b));
  EXPECT_EQ(op.begin[2], 0.25f);
  EXPECT_EQ(op.end[3], 1.25f);
  EXPECT_EQ(op.extrapolation, 9);

  builder nan(19);
  nan.input("x", {1}).output("y").ints("sizes", {3}).floats("roi", {2}, {0, std::numeric_limits<float>::quiet_NaN()});
  set(nan.node("Resize", {"x", "roi", "", "sizes"}, {"y"}), "coordinate_transformation_mode", "tf_crop_and_resize");
  EXPECT_NE(problems(nan).find("its roi has NaN or an infinity"), std::string::npos) << problems(nan);
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
  EXPECT_NE(refusal("nearest_mode", "by_scale", 2).find("its nearest_mode is \"by_scale\""), std::string::npos);
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
