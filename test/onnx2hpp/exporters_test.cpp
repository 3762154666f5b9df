// Forms that exporters write: Pads before convolutions, BatchNormalization and hard functions from their parts, sequences,
// and what models of the years before opset 10 have.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

#include <array>

namespace onnx2hpp_test {
namespace {

namespace ops = dice::ops;

TEST(Padding, JoinsTheConvolution) {
  builder b(13);
  b.input("x", {1, 2, 5, 5}).output("y").ints("pads", {0, 0, 0, 1, 0, 0, 2, 3}).weights("w", {2, 2, 3, 3});
  b.node("Pad", {"x", "pads"}, {"p"});
  set(b.node("Conv", {"p", "w"}, {"y"}), "pads", {1, 0, 0, 1});
  EXPECT_EQ(operators(convert(b)), "Conv");
  EXPECT_EQ(first<ops::conv>(convert(b)).pads, (std::array{1, 1, 2, 4}));
  EXPECT_LT(error(b), 1e-6);
  // Of one axis, read twice.
  builder c(13);
  c.input("x", {1, 2, 5}).output("y").output("z").ints("pads", {0, 0, 1, 0, 0, 2}).weights("w", {2, 2, 3});
  c.node("Pad", {"x", "pads"}, {"p"});
  c.node("Conv", {"p", "w"}, {"y"});
  c.node("Relu", {"p"}, {"z"});
  EXPECT_EQ(operators(convert(c)), "Pad Conv Relu");
  EXPECT_EQ(first<ops::conv>(convert(c)).pads, (std::array{0, 1, 0, 2}));
  EXPECT_LT(error(c), 1e-6);
}

TEST(Padding, ThatIsNoPaddingOfConvolutionsStays) {
  const auto operators_with = [](const std::vector<std::int64_t>& pads, float value, const char* mode) {
    builder b(13);
    b.input("x", {1, 2, 5, 5}).output("y").ints("pads", pads).weights("w", {2, 2, 3, 3}).scalar("value", value);
    set(b.node("Pad", {"x", "pads", "value"}, {"p"}), "mode", mode);
    set(b.node("Conv", {"p", "w"}, {"y"}), "group", pads[1] > 0 ? 2 : 1);
    if (pads[1] > 0) b.graph().mutable_initializer(1)->set_dims(1, 2);
    EXPECT_LT(error(b), 1e-6);
    return operators(convert(b));
  };
  EXPECT_EQ(operators_with({0, 0, 1, 1, 0, 0, 1, 1}, 0, "constant"), "Conv");
  EXPECT_EQ(operators_with({0, 0, 1, 1, 0, 0, 1, 1}, 1, "constant"), "Pad Conv");
  EXPECT_EQ(operators_with({0, 0, 1, 1, 0, 0, 1, 1}, 0, "reflect"), "Pad Conv");
  EXPECT_EQ(operators_with({0, 0, 1, 1, 0, 0, -1, 1}, 0, "constant"), "Pad Conv");
  EXPECT_EQ(operators_with({0, 1, 0, 0, 0, 1, 0, 0}, 0, "constant"), "Pad Conv");
  EXPECT_EQ(operators_with({1, 0, 0, 0, 0, 0, 0, 0}, 0, "constant"), "Pad Conv");
}

TEST(Padding, OfResultsOfReluJoinsMaxPool) {
  const auto operators_with = [](const char* before, std::int64_t pad, std::int64_t dilation) {
    builder b(13);
    b.input("x", {1, 2, 6, 6}).output("y").ints("pads", {0, 0, pad, 1, 0, 0, 1, 0});
    b.node(before, {"x"}, {"r"});
    b.node("Pad", {"r", "pads"}, {"p"});
    auto& pool = b.node("MaxPool", {"p"}, {"y"});
    set(pool, "kernel_shape", {3, 3});
    set(pool, "strides", {2, 2});
    set(pool, "dilations", {dilation, dilation});
    EXPECT_LT(error(b), 1e-6);
    return operators(convert(b));
  };
  EXPECT_EQ(operators_with("Relu", 1, 1), "Relu MaxPool");
  EXPECT_EQ(operators_with("Sigmoid", 2, 1), "Sigmoid MaxPool");
  EXPECT_EQ(operators_with("Tanh", 1, 1), "Tanh Pad MaxPool") << "a zero may be the largest";
  EXPECT_EQ(operators_with("Relu", 3, 1), "Relu Pad MaxPool") << "a window of zeros only";
  EXPECT_EQ(operators_with("Relu", 1, 2), "Relu Pad MaxPool");
}

TEST(Scales, JoinTheConvolution) {
  builder b;
  b.input("x", {1, 1, 1, 2}).output("y").floats("w", {2, 1, 1, 1}, {1, 2}).floats("b", {2}, {1, 1});
  b.floats("m", {2, 1, 1}, {3, 4}).floats("a", {1, 2, 1, 1}, {5, 6}).floats("d", {1}, {2}).floats("s", {1, 2, 1, 1}, {1, 3});
  b.node("Conv", {"x", "w", "b"}, {"c"});
  b.node("Mul", {"m", "c"}, {"1"});
  b.node("Add", {"1", "a"}, {"2"});
  b.node("Div", {"2", "d"}, {"3"});
  b.node("Sub", {"s", "3"}, {"4"});
  b.node("Sub", {"4", "s"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Conv");
  EXPECT_EQ(written(net, 0), (std::vector<float>{-1.5f, -4}));
  EXPECT_EQ(written(net, 1), (std::vector<float>{-4, -5}));  // -(b m + a) / 2
  EXPECT_LT(error(b), 1e-6);
}

TEST(Scales, OfPixelsOrReadElsewhereStay) {
  const auto operators_with = [](const std::vector<std::int64_t>& dims, const char* op, const char* other) {
    builder b;
    b.input("x", {1, 1, 2, 2}).output("y").weights("w", {2, 1, 1, 1}).weights("k", dims);
    b.node("Conv", {"x", "w"}, {"c"});
    b.node(op, {"c", "k"}, {"y"});
    if (*other) b.output("z").node(other, {"c"}, {"z"});
    EXPECT_LT(error(b), 1e-6);
    return operators(convert(b));
  };
  EXPECT_EQ(operators_with({1, 1, 1}, "Mul", ""), "Conv");
  EXPECT_EQ(operators_with({1, 2}, "Mul", ""), "Conv Mul");
  EXPECT_EQ(operators_with({2, 1, 2}, "Add", ""), "Conv Add");
  EXPECT_EQ(operators_with({3, 2, 1, 1}, "Add", ""), "Conv Add") << "the result is larger";
  EXPECT_EQ(operators_with({2, 1, 1}, "Max", ""), "Conv Max");
  EXPECT_EQ(operators_with({2, 1, 1}, "Mul", "Relu"), "Conv Mul Relu");
}

TEST(Scales, MulAndAddAreABatchNormalization) {
  builder b;
  b.input("x", {1, 2, 1, 2}).output("y").floats("m", {2, 1, 1}, {3, 4}).floats("a", {1, 2, 1, 1}, {5, 6});
  b.node("Relu", {"x"}, {"r"});
  b.node("Mul", {"r", "m"}, {"1"});
  b.node("Add", {"1", "a"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Relu BatchNormalization");
  EXPECT_EQ(written(net, 0), (std::vector<float>{3, 4}));
  EXPECT_EQ(written(net, 1), (std::vector<float>{5, 6}));
  EXPECT_LT(error(b), 1e-6);
  b.output("1");
  EXPECT_EQ(operators(convert(b)), "Relu Mul Add");
}

TEST(HardFunctions, InEveryOrderOfTheFactors) {
  // x relu6(x + 3) / 6
  const auto swish = [](int order) {
    builder b;
    b.input("x", {1, 8}).output("y").scalar("three", 3).scalar("six", 6).scalar("zero", 0).scalar("sixth", 1.0f / 6);
    b.node("Add", {"three", "x"}, {"a"});
    b.node("Clip", {"a", "zero", "six"}, {"c"});
    const auto then = [&](const char* op, const char* p, const char* q, const char* out) { b.node(op, {p, q}, {out}); };
    switch (order) {
      case 0:
        then("Div", "c", "six", "h");
        then("Mul", "x", "h", "y");
        break;
      case 1:
        then("Mul", "x", "c", "h");
        then("Div", "h", "six", "y");
        break;
      case 2:
        then("Mul", "sixth", "c", "h");
        then("Mul", "h", "x", "y");
        break;
      case 3:
        then("Mul", "c", "x", "h");
        then("Mul", "h", "sixth", "y");
        break;
      case 4:
        then("Mul", "x", "sixth", "h");
        then("Mul", "h", "c", "y");
        break;
      default:
        then("Div", "x", "six", "h");
        then("Mul", "c", "h", "y");
    }
    EXPECT_LT(error(b), 1e-6);
    return operators(convert(b));
  };
  for (int order = 0; order < 6; ++order) EXPECT_EQ(swish(order), "HardSwish") << order;
}

TEST(HardFunctions, OnlyTheseNumbers) {
  const auto gate = [](float add, float high, float by, bool divide) {
    builder b;
    b.input("x", {1, 8}).output("y").scalar("three", add).scalar("six", high).scalar("zero", 0).scalar("by", by);
    b.node("Add", {"x", "three"}, {"a"});
    b.node("Clip", {"a", "zero", "six"}, {"c"});
    if (divide) b.node("Div", {"c", "by"}, {"y"});
    else b.node("Mul", {"c", "by"}, {"y"});
    EXPECT_LT(error(b), 1e-6);
    return operators(convert(b));
  };
  EXPECT_EQ(gate(3, 6, 6, true), "HardSigmoid");
  EXPECT_EQ(gate(3, 6, 1.0f / 6, false), "HardSigmoid");
  EXPECT_EQ(gate(2, 6, 6, true), "Add Clip Div");
  EXPECT_EQ(gate(3, 5, 6, true), "Add Clip Div");
  EXPECT_EQ(gate(3, 6, 6, false), "Add Clip Mul");
}

TEST(Sequences, OfPartsOfATensor) {
  builder b(20);
  b.input("x", {1, 7, 2}).output("y").output("z").ints("sizes", {3, 4}).ints("at", {1}).ints("last", {-1});
  b.tensor("two", onnx::TensorProto::INT64, {}).add_int64_data(2);
  set(b.node("SplitToSequence", {"x", "sizes"}, {"s"}), "axis", 1);
  b.node("SequenceAt", {"s", "at"}, {"y"});
  set(b.node("SplitToSequence", {"x", "two"}, {"t"}), "axis", -2);
  b.node("SequenceAt", {"t", "last"}, {"z"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Slice Slice");
  EXPECT_EQ(net.layers[1].op.get_if<ops::slice>()->starts[1], 3);
  EXPECT_EQ(net.layers[1].result, (shape{1, 4, 2}));
  EXPECT_EQ(net.layers[2].op.get_if<ops::slice>()->starts[1], 6);
  EXPECT_EQ(net.layers[2].result, (shape{1, 1, 2}));
}

TEST(Sequences, JoinedAgain) {
  const auto form = [](int keep, int stack) {
    builder b(20);
    b.input("x", {2, 3}).output("y");
    set(b.node("SplitToSequence", {"x"}, {"s"}), "keepdims", keep);
    b.node("SequenceLength", {"s"}, {"n"});
    auto& join = b.node("ConcatFromSequence", {"s"}, {"j"});
    set(join, "axis", 0);
    set(join, "new_axis", stack);
    set(b.node("Cast", {"n"}, {"f"}), "to", 1);
    b.node("Mul", {"j", "f"}, {"y"});
    EXPECT_LT(error(b), 1e-6);
    const auto net = convert(b);
    EXPECT_EQ(reals(net.layers[net.layers.size() - 2].parameters[0].source), std::vector<double>{2});
    return result(net);
  };
  EXPECT_EQ(form(1, 0), (shape{2, 3}));
  EXPECT_EQ(form(0, 0), (shape{6}));
  EXPECT_EQ(form(0, 1), (shape{2, 3}));
  EXPECT_EQ(form(1, 1), (shape{2, 1, 3}));
}

TEST(Sequences, LoseTheirLastTensor) {
  builder b(17);
  b.input("x", {2, 3}).output("y");
  set(b.node("SplitToSequence", {"x"}, {"columns"}), "axis", 1);
  b.node("SequenceErase", {"columns"}, {"first"});
  set(b.node("ConcatFromSequence", {"first"}, {"y"}), "axis", 1);
  EXPECT_EQ(computed(convert(b), {{"x", {1, 2, 3, 4, 5, 6}}}).at("y"), (std::vector<float>{1, 2, 4, 5}));
}

TEST(Sequences, KeepIntegersApartFromReals) {
  builder b(20);
  b.input("x", {1, 7}).output("y").ints("at", {0});
  set(b.node("ArgMax", {"x"}, {"i"}), "axis", 1);
  b.node("SequenceConstruct", {"i", "x"}, {"s"});
  auto& last = b.node("SequenceAt", {"s", "at"}, {"y"});
  EXPECT_EQ(convert(b).layers.back().op.get_if<ops::output>()->number, dice::tensor::number::int64);
  last.set_op_type("ConcatFromSequence");
  last.mutable_input()->RemoveLast();
  set(last, "axis", 0);
  EXPECT_NE(problems(b).find("its inputs hold different types"), std::string::npos);
}

TEST(Sequences, WhatHasNoTensorIsRefused) {
  builder b(20);
  b.input("x", {1, 300}).output("y").ints("at", {2}).ints("sizes", {100, 100}).ints("all", {150, 150});
  set(b.node("SplitToSequence", {"x", "sizes"}, {"s"}), "axis", 1);
  b.node("SequenceAt", {"s", "at"}, {"y"});
  EXPECT_NE(problems(b).find("its parts are smaller than its input"), std::string::npos);
  auto& split = *b.graph().mutable_node(0);
  split.set_input(1, "all");
  EXPECT_NE(problems(b).find("its position is not in the sequence"), std::string::npos);
  split.mutable_input()->RemoveLast();
  EXPECT_NE(problems(b).find("more than 256 tensors"), std::string::npos);
  b.graph().mutable_node(1)->set_input(0, "x");
  EXPECT_NE(problems(b).find("\"x\" is not a sequence of tensors"), std::string::npos);
  split.add_input("all");
  b.graph().mutable_node(1)->set_input(0, "s");
  b.graph().mutable_node(1)->set_op_type("Relu");
  b.graph().mutable_node(1)->mutable_input()->RemoveLast();
  EXPECT_NE(problems(b).find("\"s\" is a sequence of tensors"), std::string::npos);
  EXPECT_NE(problems(b, {.outputs = {"s"}}).find("it is a sequence of tensors"), std::string::npos);
  b.graph().mutable_node(1)->set_op_type("Identity");
  EXPECT_NE(problems(b).find("is a sequence of tensors"), std::string::npos);
}

TEST(OldForms, OfTheYearsBeforeOpset10) {
  // Weights listed as inputs, Dropout with a mask, BatchNormalization with `spatial`, Pad and Upsample with attributes,
  // a weight that is a Reshape of another, pads as auto_pad.
  builder b(8, 3);
  b.input("x", {1, 1, 4, 4}).input("w", {2, 1, 3, 3}).input("s", {2}).output("y");
  b.weights("w", {2, 1, 3, 3}).weights("s", {2}).floats("one", {2}, {1, 1}).weights("p", {2, 64}).ints("to", {1, 128});
  b.weights("bias", {2, 1, 1}).ints("matrix", {128, 1});
  set(b.node("Conv", {"x", "w"}, {"c"}), "auto_pad", "SAME_LOWER");
  b.node("Add", {"c", "bias"}, {"a"});
  set(b.node("BatchNormalization", {"a", "s", "s", "s", "one"}, {"n"}), "spatial", 1);
  set(b.node("Dropout", {"n"}, {"d", "mask"}), "ratio", 0.5f);
  set(b.node("Pad", {"d"}, {"q"}), "pads", {0, 0, 0, 0, 0, 0, 0, 0});
  auto* scales = b.node("Upsample", {"q"}, {"u"}).add_attribute();
  scales->set_name("scales");
  scales->set_type(onnx::AttributeProto::FLOATS);
  for (const float f : {1.f, 1.f, 2.f, 2.f}) scales->add_floats(f);
  b.node("Reshape", {"u", "to"}, {"f"});
  b.node("Reshape", {"p", "matrix"}, {"m"});
  b.node("MatMul", {"f", "m"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Conv Resize Reshape MatMul");
  EXPECT_EQ(convert(b).layers[0].onnx_name, "x");
  EXPECT_LT(error(b), 1e-6);
  set(*b.graph().mutable_node(2), "spatial", 0);
  b.graph().mutable_node(2)->mutable_attribute()->DeleteSubrange(0, 1);
  EXPECT_NE(problems(b).find("with its attribute spatial = 0, its statistics need the shape"), std::string::npos);
}

TEST(OldForms, ReshapeWithAnAttributeIsRefused) {
  builder b(4);
  b.input("x", {1, 4}).output("y");
  set(b.node("Reshape", {"x"}, {"y"}), "shape", {2, 2});
  EXPECT_NE(
      problems(b).find("the model uses opset 4; opsets 7 to 28 are supported; export it with one of these, or convert"),
      std::string::npos);
  b.model.mutable_opset_import(0)->set_version(9);
  EXPECT_NE(problems(b).find("its input 1 is missing"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
