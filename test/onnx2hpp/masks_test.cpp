// Bools computed at run time, or given as inputs: And, Or, Xor, Not, and Where between two operands. Expected values follow
// from ONNX's descriptions, by hand.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

#include <cmath>
#include <limits>

namespace onnx2hpp_test {
namespace {

constexpr float unlimited = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

builder with_masks(int opset = 16) {
  builder b(opset);
  b.input("m", {4}, onnx::TensorProto::BOOL).input("n", {4}, onnx::TensorProto::BOOL).output("y");
  b.tensor("c", onnx::TensorProto::BOOL, {1}).set_raw_data("\1");
  b.tensor("k", onnx::TensorProto::BOOL, {4}).set_raw_data(std::string("\0\1\0\1", 4));
  return b;
}
const floats mask_m{0, 0, 1, 1}, mask_n{0, 1, 0, 1};

TEST(Masks, AreCombined) {
  const auto of = [](const std::string& op, const std::vector<std::string>& in) {
    auto b = with_masks();
    b.node(op, in, {"y"});
    EXPECT_EQ(problems(b), "");
    const auto net = convert(b);
    EXPECT_EQ(net.layers.back().op.get_if<dice::ops::output>()->number, dice::tensor::number::boolean);
    return computed(net, {{"m", mask_m}, {"n", mask_n}}).at("y");
  };
  EXPECT_EQ(of("And", {"m", "n"}), (floats{0, 0, 0, 1}));
  EXPECT_EQ(of("Or", {"m", "n"}), (floats{0, 1, 1, 1}));
  EXPECT_EQ(of("Xor", {"m", "n"}), (floats{0, 1, 1, 0}));
  EXPECT_EQ(of("Not", {"m"}), (floats{1, 1, 0, 0}));
  EXPECT_EQ(of("And", {"k", "m"}), (floats{0, 0, 0, 1}));
  EXPECT_EQ(of("Or", {"m", "k"}), (floats{0, 1, 1, 1}));
  EXPECT_EQ(of("Xor", {"m", "c"}), (floats{1, 1, 0, 0}));
  EXPECT_EQ(of("Xor", {"k", "m"}), (floats{0, 1, 1, 0}));
}

/// Where(mask, a, b), each of them "x" (or "z"), a constant or several.
floats chosen(const std::string& a, const std::string& b, const floats& x, const floats& z) {
  auto model = with_masks();
  model.input("x", {2, 4}).input("z", {4}).floats("low", {1}, {-unlimited}).floats("row", {4}, {1, 2, 3, 4});
  model.node("Where", {"m", a, b}, {"y"});
  EXPECT_EQ(problems(model), "");
  const auto net = convert(model);
  return computed(net, {{"m", mask_m}, {"n", mask_n}, {"x", x}, {"z", z}}).at("y");
}

TEST(Masks, Choose) {
  const floats x{1, -2, 3, 4, 5, 6, 7, -0.0f}, z{10, 20, 30, 40};
  EXPECT_EQ(chosen("x", "z", x, z), (floats{10, 20, 3, 4, 10, 20, 7, 0}));
  EXPECT_EQ(chosen("z", "x", x, z), (floats{1, -2, 30, 40, 5, 6, 30, 40}));
  EXPECT_EQ(chosen("x", "low", x, z), (floats{-unlimited, -unlimited, 3, 4, -unlimited, -unlimited, 7, 0}));
  EXPECT_EQ(chosen("row", "x", x, z), (floats{1, -2, 3, 4, 5, 6, 3, 4}));
  EXPECT_EQ(chosen("row", "low", x, z), (floats{-unlimited, -unlimited, 3, 4}));
  EXPECT_EQ(chosen("low", "row", x, z), (floats{1, 2, -unlimited, -unlimited}));
}

/// What is not chosen may be infinite or NaN; what is chosen stays what it is.
TEST(Masks, ChooseAmongAllNumbers) {
  const floats x{no_number, unlimited, 3, unlimited, no_number, -unlimited, -unlimited, no_number},
      z{10, 20, no_number, unlimited};
  const auto same = [](const floats& found, const floats& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) << i << ": " << found[i];
  };
  same(chosen("x", "z", x, z), {10, 20, 3, unlimited, 10, 20, -unlimited, no_number});
  same(chosen("z", "x", x, z), {no_number, unlimited, no_number, unlimited, no_number, -unlimited, no_number, unlimited});
  same(chosen("x", "row", x, z), {1, 2, 3, unlimited, 1, 2, -unlimited, no_number});
  same(chosen("row", "x", x, z), {no_number, unlimited, 3, 4, no_number, -unlimited, 3, 4});
}

/// A comparison with NaN is false, also for what reads it; not so its negation.
TEST(Masks, OfComparisons) {
  builder b(16);
  b.input("x", {4}).input("z", {4}).output("y").output("no").scalar("zero", 0);
  b.node("Greater", {"x", "zero"}, {"m"});
  b.node("Where", {"m", "x", "z"}, {"y"});
  b.node("Not", {"m"}, {"no"});
  ASSERT_EQ(problems(b), "");
  const auto all = computed(convert(b), {{"x", {1, -1, no_number, unlimited}}, {"z", {5, 6, 7, 8}}});
  EXPECT_EQ(all.at("y"), (floats{1, 6, 7, unlimited}));
  EXPECT_EQ(all.at("no"), (floats{0, 1, 1, 0}));
}

/// The same where it becomes a number, of whatever type it was in between.
TEST(Masks, OfComparisonsBecomeNumbers) {
  builder b(16);
  b.input("x", {4}).output("real").output("whole").output("again").output("true").scalar("zero", 0).scalar("one", 1);
  b.node("Greater", {"x", "zero"}, {"m"});
  b.node("Equal", {"x", "one"}, {"e"});
  set(b.node("Cast", {"m"}, {"real"}), "to", onnx::TensorProto::FLOAT);
  set(b.node("Cast", {"e"}, {"whole"}), "to", onnx::TensorProto::INT64);
  set(b.node("Cast", {"whole"}, {"w"}), "to", onnx::TensorProto::FLOAT);
  b.node("Add", {"w", "one"}, {"again"});
  set(b.node("Cast", {"m"}, {"true"}), "to", onnx::TensorProto::BOOL);
  ASSERT_EQ(problems(b), "");
  const auto all = computed(convert(b), {{"x", {1, -1, no_number, 3}}});
  EXPECT_EQ(all.at("real"), (floats{1, 0, 0, 1}));
  EXPECT_EQ(all.at("whole"), (floats{1, 0, 0, 0}));
  EXPECT_EQ(all.at("again"), (floats{2, 1, 1, 1}));
  EXPECT_EQ(all.at("true")[3], 1);
}

/// Cast to bool: every number but 0 is true, NaN as well.
TEST(Masks, OfNumbers) {
  builder b(16);
  b.input("x", {5}).input("i", {5}, onnx::TensorProto::INT32).output("y").output("w").output("z");
  set(b.node("Cast", {"x"}, {"y"}), "to", onnx::TensorProto::BOOL);
  set(b.node("Cast", {"i"}, {"w"}), "to", onnx::TensorProto::BOOL);
  set(b.node("Cast", {"x"}, {"whole"}), "to", onnx::TensorProto::INT64);
  set(b.node("Cast", {"whole"}, {"z"}), "to", onnx::TensorProto::BOOL);
  ASSERT_EQ(problems(b), "");
  const auto all = computed(convert(b), {{"x", {0, 0.25f, -3, no_number, -unlimited}}, {"i", {0, 1, -1, 255, -256}}});
  EXPECT_EQ(all.at("y"), (floats{0, 1, 1, 1, 1}));
  EXPECT_EQ(all.at("w"), (floats{0, 1, 1, 1, 1}));
  EXPECT_EQ(all.at("z"), (floats{0, 0, 1, 0, 1})) << "of integers: 0.25 became 0, and NaN 0";
}

/// A mask as exporters apply it to an attention.
TEST(Masks, BeforeASoftmax) {
  builder b(16);
  b.input("scores", {1, 3}).input("m", {1, 3}, onnx::TensorProto::BOOL).output("y").scalar("low", -unlimited);
  b.node("Where", {"m", "scores", "low"}, {"s"});
  b.node("Softmax", {"s"}, {"y"});
  const auto y = computed(convert(b), {{"scores", {2, 9, 2}}, {"m", {1, 0, 1}}}).at("y");
  EXPECT_EQ(y, (floats{0.5f, 0, 0.5f}));
}

TEST(Masks, AreRefusedWithAReason) {
  const auto why = [](const std::string& op, const std::vector<std::string>& in) {
    auto b = with_masks();
    b.input("x", {4}).scalar("real", 1).scalar("none", no_number).ints("whole", {1});
    b.node(op, in, {"y"});
    return problems(b);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(why("Where", {"x", "x", "x"}), "its input \"x\" holds no bools");
  has(why("And", {"m", "x"}), "its input \"x\" holds no bools");
  has(why("Or", {"m", "real"}), "its constant operand holds no bools");
  has(why("Where", {"m", "x", "none"}), "its constant operand has a NaN");
  has(why("Where", {"m", "whole", "whole"}), "its operands are not real numbers");
  has(why("Add", {"m", "real"}), "its input \"m\" holds BOOL, and dice computes only with float32");
}

}  // namespace
}  // namespace onnx2hpp_test
