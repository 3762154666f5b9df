// Each operator's attributes and shapes after import, against values worked out by hand from ONNX's operator pages.
#include "convert_model.hpp"

#include "dice/graph/ops.hpp"

#include <cstdint>

namespace onnx2hpp_test {
namespace {

using namespace dice;

TEST(Conv, AttributesBiasGroups) {
  builder b;
  b.input("x", {1, 4, 9, 8}).output("y").weights("w", {6, 2, 3, 2}).weights("b", {6});
  auto& n = b.node("Conv", {"x", "w", "b"}, {"y"});
  set(n, "group", 2);
  set(n, "strides", {2, 1});
  set(n, "dilations", {1, 2});
  set(n, "pads", {1, 0, 2, 3});
  const auto net = convert(b);
  const auto& op = first<ops::conv>(net);
  EXPECT_EQ(op.channels, 6);
  EXPECT_EQ(op.group, 2);
  EXPECT_TRUE(op.bias);
  EXPECT_EQ(op.kernel, (std::array{3, 2}));
  EXPECT_EQ(op.strides, (std::array{2, 1}));
  EXPECT_EQ(op.dilations, (std::array{1, 2}));
  EXPECT_EQ(op.pads, (std::array{1, 0, 2, 3}));
  EXPECT_EQ(result(net), (shape{1, 6, 5, 9}));
}

TEST(Conv, OneAxisUsesTheSecondIndex) {
  builder b;
  b.input("x", {1, 2, 10}).output("y").weights("w", {3, 2, 3});
  auto& n = b.node("Conv", {"x", "w"}, {"y"});
  set_list(n, "strides", {2});
  set(n, "pads", {1, 0});
  const auto net = convert(b);
  const auto& op = first<ops::conv>(net);
  EXPECT_EQ(op.kernel, (std::array{1, 3}));
  EXPECT_EQ(op.strides, (std::array{1, 2}));
  EXPECT_EQ(op.pads, (std::array{0, 1, 0, 0}));
  EXPECT_EQ(result(net), (shape{1, 3, 5}));
}

TEST(Conv, AutomaticPadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    builder b;
    b.input("x", {1, 1, 5, 6}).output("y").weights("w", {1, 1, 4, 3});
    auto& n = b.node("Conv", {"x", "w"}, {"y"});
    set(n, "auto_pad", mode);
    set(n, "strides", {1, 2});
    const auto net = convert(b);
    const auto& op = first<ops::conv>(net);
    if (mode == std::string("VALID")) {
      EXPECT_EQ(op.pads, (std::array{0, 0, 0, 0}));
      EXPECT_EQ(result(net), (shape{1, 1, 2, 2}));
    } else {
      // In total, (5-1)·1 + 4 - 5 = 3 rows and (3-1)·2 + 3 - 6 = 1 column of padding.
      EXPECT_EQ(op.pads, mode == std::string("SAME_UPPER") ? (std::array{1, 0, 2, 1}) : (std::array{2, 1, 1, 0}));
      EXPECT_EQ(result(net), (shape{1, 1, 5, 3}));
    }
  }
}

TEST(Conv, Refusals) {
  builder b;
  b.input("x", {1, 4, 8, 8}).input("w", {4, 4, 3, 3}).output("y");
  b.node("Conv", {"x", "w"}, {"y"});
  EXPECT_NE(problems(b).find("its input \"w\" (weights) is computed at run time, not constant;"), std::string::npos);
  builder c;
  c.input("x", {1, 4, 8, 8}).output("y").weights("w", {4, 3, 3, 3});
  c.node("Conv", {"x", "w"}, {"y"});
  EXPECT_NE(problems(c).find("do not fit an input of 4 channels in 1 group;"), std::string::npos);
  builder d;
  d.input("x", {1, 4, 2, 8}).output("y").weights("w", {4, 4, 3, 3});
  d.node("Conv", {"x", "w"}, {"y"});
  EXPECT_NE(problems(d).find("the window is larger than the padded input"), std::string::npos);
  builder e;
  e.input("x", {1, 4, 4, 8, 8}).output("y").weights("w", {4, 4, 3, 3, 3});
  e.node("Conv", {"x", "w"}, {"y"});
  EXPECT_NE(problems(e).find("5 axes"), std::string::npos);
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{4}, {4, 4}}) {
    builder f;
    f.input("x", dims).output("y").weights("w", dims);
    f.node("Conv", {"x", "w"}, {"y"});
    EXPECT_NE(problems(f).find("expected three"), std::string::npos);
  }
}

TEST(Pools, CeilModeAndDilations) {
  builder b = one("MaxPool", {1, 2, 7, 7}, 17);
  set(node_of(b), "kernel_shape", {2, 2});
  set(node_of(b), "strides", {2, 2});
  set(node_of(b), "ceil_mode", 1);
  EXPECT_EQ(result(convert(b)), (shape{1, 2, 4, 4}));
  // The last window would begin in the end padding: it is dropped.
  builder c = one("MaxPool", {1, 1, 4, 4}, 17);
  set(node_of(c), "kernel_shape", {1, 1});
  set(node_of(c), "strides", {2, 2});
  set(node_of(c), "ceil_mode", 1);
  set(node_of(c), "pads", {0, 0, 0, 0});
  EXPECT_EQ(result(convert(c)), (shape{1, 1, 2, 2}));
  builder d = one("AveragePool", {1, 1, 32, 32}, 19);
  set(node_of(d), "kernel_shape", {3, 3});
  set(node_of(d), "dilations", {2, 2});
  set(node_of(d), "count_include_pad", 1);
  const auto net = convert(d);
  EXPECT_EQ(result(net), (shape{1, 1, 28, 28}));
  EXPECT_TRUE(first<ops::average_pool>(net).count_include_pad);
  EXPECT_EQ(result(convert(one("GlobalAveragePool", {1, 3, 5, 7}, 17))), (shape{1, 3, 1, 1}));
}

TEST(Pools, WindowsWithoutElementsAreRefused) {
  const auto text = [](const char* op, std::vector<std::int64_t> pads, bool all = false) {
    builder b = one(op, {1, 1, 3}, 19);
    set_list(node_of(b), "kernel_shape", {2});
    set_list(node_of(b), "pads", pads);
    if (all) set(node_of(b), "count_include_pad", 1);
    return problems(b);
  };
  EXPECT_NE(text("MaxPool", {2, 0}).find("a window has no element of the input, only padding (input {1, 1, 3})"),
            std::string::npos);
  EXPECT_NE(text("AveragePool", {0, 2}).find("a window has no element of the input"), std::string::npos);
  EXPECT_EQ(text("MaxPool", {1, 1}), "");
  EXPECT_EQ(text("AveragePool", {0, 2}, true), "") << "a mean of zeros";
  EXPECT_EQ(text("LpPool", {2, 0}), "") << "a sum of zeros";
}

TEST(Pools, SecondOutputIsRefusedWhereItIsRead) {
  builder b;
  b.input("x", {1, 1, 4, 4}).output("z");
  set(b.node("MaxPool", {"x"}, {"y", "i"}), "kernel_shape", {2, 2});
  b.node("Relu", {"i"}, {"z"}, "reader");
  const auto text = problems(b);
  EXPECT_NE(text.find("reader"), std::string::npos) << text;
  EXPECT_NE(text.find("output 1 of MaxPool is not supported"), std::string::npos) << text;
}

TEST(Clip, AttributesThenInputs) {
  builder b = one("Clip", {1, 2}, 10);
  set(node_of(b), "min", 0.0f);
  set(node_of(b), "max", 6.0f);
  EXPECT_EQ(first<ops::clip>(convert(b)).high, 6.0f);
  builder c = one("Clip", {1, 2}, 11);
  c.scalar("lo", -1).scalar("hi", 2);
  node_of(c).add_input("lo");
  node_of(c).add_input("hi");
  EXPECT_EQ(first<ops::clip>(convert(c)).low, -1.0f);
  builder d = one("Clip", {1, 2}, 13);
  d.scalar("hi", 2);
  node_of(d).add_input("");
  node_of(d).add_input("hi");
  const auto net = convert(d);
  EXPECT_EQ(first<ops::clip>(net).low, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(first<ops::clip>(net).high, 2.0f);
}

TEST(Activations, Attributes) {
  builder b = one("LeakyRelu", {1, 2}, 17);
  set(node_of(b), "alpha", 0.1f);
  EXPECT_EQ(first<ops::leaky_relu>(convert(b)).alpha, 0.1f);
  builder c = one("HardSigmoid", {1, 2}, 17);
  set(node_of(c), "alpha", 1.0f / 6);
  EXPECT_EQ(first<ops::hard_sigmoid>(convert(c)).alpha, 1.0f / 6);
  EXPECT_EQ(first<ops::hard_sigmoid>(convert(c)).beta, 0.5f);
  builder e = one("Elu", {1, 2}, 17);
  EXPECT_EQ(first<ops::elu>(convert(e)).alpha, 1.0f);
  set(node_of(e), "alpha", 0.5f);
  EXPECT_EQ(first<ops::elu>(convert(e)).alpha, 0.5f);
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish"}) EXPECT_EQ(operators(convert(one(op, {1, 2}, 17))), op);
  EXPECT_NE(problems(one("HardSwish", {1, 2}, 13)).find("exists only from opset 14 on"), std::string::npos);
}

TEST(Gemm, TransposesScalesAndSpreads) {
  builder b;
  b.input("x", {1, 2}).output("y").floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("c", {1}, {4});
  auto& n = b.node("Gemm", {"x", "w", "c"}, {"y"});
  set(n, "alpha", 2.0f);
  set(n, "beta", 0.5f);
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Gemm");
  EXPECT_EQ(written(net, 0), (std::vector<float>{2, 8, 4, 10, 6, 12}));
  EXPECT_EQ(written(net, 1), (std::vector<float>{2, 2, 2}));
}

TEST(Gemm, BiasThatDependsOnTheRowIsAdded) {
  builder b;
  b.input("x", {2, 2}).output("y").floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("c", {2, 1}, {10, 20});
  set(b.node("Gemm", {"x", "w", "c"}, {"y"}), "transB", 1);
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "MatMul Add");
  EXPECT_EQ(first<ops::add>(net).fixed, (shape{2, 1}));
  EXPECT_EQ(result(net), (shape{2, 3}));
  builder d;
  d.input("x", {2, 3}).input("c", {3, 2}).output("y").weights("w", {2, 2});
  auto& n = d.node("Gemm", {"x", "w", "c"}, {"y"});
  set(n, "transA", 1);
  set(n, "beta", 2.0f);
  EXPECT_EQ(operators(convert(d)), "Transpose MatMul Mul Add");
  d.graph().mutable_node(0)->mutable_attribute(1)->set_f(0);
  EXPECT_EQ(operators(convert(d)), "Transpose MatMul") << "C · 0 is nothing";
}

TEST(MatMul, MatricesVectorsAndStacks) {
  builder b;
  b.input("x", {1, 4, 2}).output("y").floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  b.node("MatMul", {"x", "w"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(result(net), (shape{1, 4, 3}));
  EXPECT_EQ(written(net), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  builder c;
  c.input("x", {5, 2}).output("y").weights("w", {2});
  c.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(result(convert(c)), (shape{5}));
  builder d;
  d.input("x", {5, 2}).output("y").weights("w", {1, 2, 3});
  d.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(result(convert(d)), (shape{1, 5, 3}));
  builder row;
  row.input("x", {2}).output("y").weights("w", {1, 1, 2, 3});
  row.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(result(convert(row)), (shape{1, 1, 3}));
  builder e;
  e.input("x", {2, 5, 2}).output("y").weights("w", {2, 2, 3});
  e.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(operators(convert(e)), "Slice MatMul Slice MatMul Concat");
  builder f;
  f.input("x", {5, 2}).input("w", {2, 3}).output("y");
  f.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(operators(convert(f)), "Einsum");
  builder g;
  g.input("x", {5, 2}).output("y").weights("w", {1, 1, 1, 1, 1, 1, 1, 2, 3});
  g.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(problems(g).find("has 9 axes"), std::string::npos);
}

TEST(Binary, ConstantsOnEitherSide) {
  builder b;
  b.input("x", {1, 2, 3, 3}).output("y").weights("c", {2, 1, 1});
  b.node("Sub", {"c", "x"}, {"s"});
  b.node("Div", {"s", "c"}, {"d"});
  b.node("Mul", {"d", "x"}, {"m"});
  b.node("Add", {"m", "m"}, {"y"});
  const auto net = convert(b, {.fold = false});
  EXPECT_EQ(operators(net), "Sub Div Mul Add");
  EXPECT_EQ(first<ops::sub>(net).which, ops::constant::first);
  EXPECT_EQ(first<ops::div>(net).which, ops::constant::second);
  EXPECT_EQ(first<ops::mul>(net).which, ops::constant::none);
  EXPECT_EQ(onnx2hpp::lay_out_weights(net).tensors.size(), 1u) << "the same constant is stored once";
  builder c;
  c.input("x", {1, 2}).input("z", {1, 3}).output("y");
  c.node("Add", {"x", "z"}, {"y"});
  EXPECT_NE(problems(c).find("cannot be broadcast"), std::string::npos);
}

TEST(Sum, ManyInputsAndConstants) {
  builder b;
  b.input("x", {1, 2}).output("y").weights("c", {2});
  b.node("Relu", {"x"}, {"r"});
  b.node("Sum", {"x", "c", "r"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu Sum Add");
}

TEST(Shapes, ReshapeFlattenSqueezeUnsqueeze) {
  builder b;
  b.input("x", {1, 2, 3, 4}).output("y").ints("to", {0, -1, 4});
  b.node("Reshape", {"x", "to"}, {"y"});
  EXPECT_EQ(result(convert(b)), (shape{1, 6, 4}));
  builder z(14);
  z.input("x", {1, 2}).output("y").ints("to", {0, 2});
  set(z.node("Reshape", {"x", "to"}, {"y"}), "allowzero", 1);
  EXPECT_NE(problems(z).find("its new shape {0, 2} has 0 elements, not the 2 of its input {1, 2}"), std::string::npos);
  builder open;
  open.input("x", {2, 5}).output("y").ints("to", {3, -1});
  open.node("Reshape", {"x", "to"}, {"y"});
  EXPECT_NE(problems(open).find("its new shape {3, -1} cannot be completed for the 10 elements of its input {2, 5}"),
            std::string::npos);
  builder f = one("Flatten", {2, 3, 4}, 17);
  set(node_of(f), "axis", -1);
  EXPECT_EQ(result(convert(f)), (shape{6, 4}));
  builder s = one("Squeeze", {1, 3, 1, 1}, 11);
  set(node_of(s), "axes", {-1, 2});
  EXPECT_EQ(result(convert(s)), (shape{1, 3}));
  EXPECT_EQ(result(convert(one("Squeeze", {1, 3, 1}, 13))), (shape{3}));
  builder u;
  u.input("x", {3}).output("y").ints("axes", {0, -1});
  u.node("Unsqueeze", {"x", "axes"}, {"y"});
  EXPECT_EQ(result(convert(u)), (shape{1, 3, 1}));
}

TEST(Pad, AttributesInputsAxes) {
  builder b = one("Pad", {1, 1, 4, 4}, 10);
  set(node_of(b), "pads", {0, 0, 1, 2, 0, 0, 3, -1});
  set(node_of(b), "value", 1.5f);
  const auto net = convert(b);
  EXPECT_EQ(result(net), (shape{1, 1, 8, 5}));
  EXPECT_EQ(first<ops::pad>(net).value, 1.5f);
  builder c(18);
  c.input("x", {1, 1, 4, 4}).output("y").ints("pads", {1, 2}).ints("axes", {-1});
  set(c.node("Pad", {"x", "pads", "", "axes"}, {"y"}), "mode", "reflect");
  EXPECT_EQ(result(convert(c)), (shape{1, 1, 4, 7}));
  EXPECT_EQ(first<ops::pad>(convert(c)).mode, ops::padding::reflect);
  builder d(19);
  d.input("x", {1, 4}).output("y").ints("pads", {0, 1, 0, 1});
  set(d.node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  EXPECT_EQ(result(convert(d)), (shape{1, 6}));
  EXPECT_EQ(first<ops::pad>(convert(d)).mode, ops::padding::wrap);
  builder early(18);  // ONNX has wrap from opset 19 on
  early.input("x", {1, 4}).output("y").ints("pads", {0, 1, 0, 1});
  set(early.node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  EXPECT_NE(problems(early).find("from opset 19 on, wrap"), std::string::npos);
  builder e(18);
  e.input("x", {1, 4}).output("y").ints("pads", {1, 2, 3, 4}).ints("axes", {1, -1});
  e.node("Pad", {"x", "pads", "", "axes"}, {"y"});
  EXPECT_NE(problems(e).find("an axis twice"), std::string::npos);
}

TEST(Pad, ByNothingVanishes) {
  builder b(13);
  b.input("x", {1, 1, 4, 4}).output("y").ints("pads", {0, 0, 0, 0, 0, 0, 0, 0}).scalar("value", 3);
  b.node("Pad", {"x", "pads", "value"}, {"p"});
  b.node("Relu", {"p"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu");
}

TEST(Softmax, MeaningChangedWithOpset13) {
  const auto before = convert(one("Softmax", {2, 3, 4}, 11));
  EXPECT_EQ(first<ops::softmax>(before).first, 1);
  EXPECT_EQ(first<ops::softmax>(before).last, 3);
  const auto since = convert(one("Softmax", {2, 3, 4}, 13));
  EXPECT_EQ(first<ops::softmax>(since).first, 2);
  EXPECT_EQ(first<ops::softmax>(since).last, 3);
}

TEST(Softmax, AxisBeyondTheLastIsRefused) {
  // 1 is the default before opset 13, also for a vector, which has no axis 1.
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    EXPECT_NE(problems(one(op, {4}, 12)).find("its axis 1 does not exist: the input has 1 axes"), std::string::npos);
    auto last = one(op, {4}, 12);
    set(node_of(last), "axis", 0);
    EXPECT_EQ(problems(last), "");
  }
}

TEST(ReduceMean, AttributeThenInput) {
  builder b = one("ReduceMean", {1, 2, 3, 4}, 13);
  set(node_of(b), "axes", {-1, 2});
  set(node_of(b), "keepdims", 0);
  EXPECT_EQ(result(convert(b)), (shape{1, 2}));
  builder c(18);
  c.input("x", {1, 2, 3, 4}).output("y").ints("axes", {1});
  c.node("ReduceMean", {"x", "axes"}, {"y"});
  EXPECT_EQ(result(convert(c)), (shape{1, 1, 3, 4}));
  builder d = one("ReduceMean", {1, 2}, 18);
  set(node_of(d), "noop_with_empty_axes", 1);
  EXPECT_EQ(operators(convert(d)), "");
  EXPECT_EQ(result(convert(one("ReduceMean", {3, 2}, 18))), (shape{1, 1}));
}

TEST(Slice, AttributesInputsNegativeAndEndless) {
  builder b = one("Slice", {1, 6, 5}, 9);
  set(node_of(b), "starts", {-4, 1});
  set(node_of(b), "ends", {-1, 1000});
  set(node_of(b), "axes", {1, 2});
  auto net = convert(b);
  EXPECT_EQ(result(net), (shape{1, 3, 4}));
  EXPECT_EQ(first<ops::slice>(net).starts[1], 2);
  builder c;
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  c.input("x", {1, 7}).output("y").ints("s", {most}).ints("e", {least}).ints("a", {-1}).ints("t", {-3});
  c.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  net = convert(c);
  EXPECT_EQ(result(net), (shape{1, 3}));
  EXPECT_EQ(first<ops::slice>(net).starts[1], 6);
  EXPECT_EQ(first<ops::slice>(net).steps[1], -3);
  // ONNX: with a negative step, starts are clamped to [0, extent - 1].
  builder before;
  before.input("x", {1, 7}).output("y").ints("s", {least}).ints("e", {least}).ints("a", {1}).ints("t", {-1});
  before.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  EXPECT_EQ(result(convert(before)), (shape{1, 1}));
  EXPECT_EQ(first<ops::slice>(convert(before)).starts[1], 0);
  builder d;
  d.input("x", {1, 7}).output("y").ints("s", {5}).ints("e", {5}).ints("a", {1});
  d.node("Slice", {"x", "s", "e", "a"}, {"y"});
  EXPECT_NE(problems(d).find("empty"), std::string::npos);
}

TEST(Gather, OfChannelsIsASlice) {
  builder b;
  b.input("x", {1, 3, 2, 2}).output("y").scalar("unused", 0).ints("last", {-1}).ints("odd", {2, 0}).ints("uneven", {0, 0});
  b.tensor("second", onnx::TensorProto::INT64, {}).set_raw_data(std::string("\1\0\0\0\0\0\0\0", 8));
  set(b.node("Gather", {"x", "second"}, {"y"}), "axis", 1);
  EXPECT_EQ(operators(convert(b)), "Slice Reshape");
  EXPECT_EQ(result(convert(b)), (shape{1, 2, 2}));
  EXPECT_EQ(first<ops::slice>(convert(b)).starts[1], 1);
  b.graph().mutable_node(0)->set_input(1, "last");
  EXPECT_EQ(result(convert(b)), (shape{1, 1, 2, 2}));
  EXPECT_EQ(first<ops::slice>(convert(b)).starts[1], 2);
  b.graph().mutable_node(0)->set_input(1, "odd");
  EXPECT_EQ(first<ops::slice>(convert(b)).steps[1], -2);
  b.graph().mutable_node(0)->set_input(1, "uneven");
  EXPECT_EQ(operators(convert(b)), "Slice Tile");
  b.ints("steps", {0, 1, 1});
  b.graph().mutable_node(0)->set_input(1, "steps");
  EXPECT_EQ(operators(convert(b)), "Slice Slice Concat");
  b.ints("all", {0, 1, 2});
  b.graph().mutable_node(0)->set_input(1, "all");
  EXPECT_EQ(operators(convert(b)), "");
  EXPECT_EQ(operators(convert(b, {.fold = false})), "Slice");
}

// As PyTorch writes nn.Upsample, and as its predecessors did.
TEST(DepthToSpace, AndBack) {
  builder b = one("DepthToSpace", {1, 12, 2, 3}, 17);
  set(node_of(b), "blocksize", 2);
  EXPECT_EQ(operators(convert(b)), "DepthToSpace");
  EXPECT_EQ(result(convert(b)), (shape{1, 3, 4, 6}));
  set(node_of(b), "mode", "other");
  EXPECT_NE(problems(b).find("its mode is \"other\""), std::string::npos);
  builder c = one("SpaceToDepth", {1, 3, 4, 6}, 17);
  set(node_of(c), "blocksize", 2);
  EXPECT_EQ(result(convert(c)), (shape{1, 12, 2, 3}));
  builder d = one("SpaceToDepth", {1, 3, 4, 6}, 28);
  set(node_of(d), "blocksize", 2);
  EXPECT_EQ(first<ops::transpose>(convert(d)).perm, first<ops::transpose>(convert(c)).perm);
  set(node_of(d), "mode", "CRD");
  EXPECT_EQ(first<ops::transpose>(convert(d)).perm, (std::array{0, 1, 3, 5, 2, 4, 6, 7}));
  node_of(c).mutable_attribute(0)->set_i(4);
  EXPECT_NE(problems(c).find("not a multiple of blocksize"), std::string::npos);
}

TEST(Others, WhatAnOperatorLacksAtAnOpsetIsRefused) {
  builder b = one("Relu", {1, 2}, 17);
  set(node_of(b), "slope", 1.0f);
  EXPECT_NE(problems(b).find("no attribute \"slope\""), std::string::npos);
  builder c = one("Clip", {1, 2}, 10);
  c.scalar("lo", 0);
  node_of(c).add_input("lo");
  EXPECT_NE(problems(c).find("no input 1"), std::string::npos);
  builder d = one("ReduceMean", {1, 2}, 18);
  set_list(node_of(d), "axes", {1});
  EXPECT_NE(problems(d).find("no attribute \"axes\""), std::string::npos);
  builder e = one("Split", {2, 2}, 13);
  set(node_of(e), "split", {1, 1});
  EXPECT_NE(problems(e).find("no attribute \"split\""), std::string::npos);
  builder f = one("MaxPool", {1, 1, 4, 4}, 9);
  set(node_of(f), "kernel_shape", {2, 2});
  set(node_of(f), "ceil_mode", 1);
  EXPECT_NE(problems(f).find("no attribute \"ceil_mode\""), std::string::npos);
  builder g = one("Upsample", {1, 2}, 10);
  EXPECT_NE(problems(g).find("exists only up to opset 9"), std::string::npos);
}

TEST(Others, LrnTransposeConcatCast) {
  builder b = one("LRN", {1, 8, 2, 2}, 17);
  set(node_of(b), "size", 5);
  set(node_of(b), "bias", 2.0f);
  EXPECT_EQ(first<ops::lrn>(convert(b)).size, 5);
  EXPECT_EQ(first<ops::lrn>(convert(b)).bias, 2.0f);
  EXPECT_EQ(result(convert(one("Transpose", {1, 2, 3}, 17))), (shape{3, 2, 1}));
  builder c;
  c.input("x", {1, 2, 3}).output("y");
  set(c.node("Concat", {"x", "x"}, {"y"}), "axis", -2);
  EXPECT_EQ(result(convert(c)), (shape{1, 4, 3}));
  EXPECT_EQ(first<ops::concat>(convert(c)).axis, 1);
  builder d = one("Cast", {1, 2}, 17);
  set(node_of(d), "to", 1);
  EXPECT_EQ(operators(convert(d)), "");
  builder e = one("Cast", {1, 2}, 17);
  set(node_of(e), "to", 10);
  EXPECT_EQ(operators(convert(e)), "");
  node_of(e).mutable_attribute(0)->set_i(3);
  EXPECT_NE(problems(e).find("it holds INT8; outputs can be FLOAT, INT64, INT32, UINT8 or BOOL"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
