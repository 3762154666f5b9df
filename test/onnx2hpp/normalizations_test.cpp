// Normalizations that exporters write as several operators, the scale and bias after them, and MatMul with its bias.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

namespace onnx2hpp_test {
namespace {

using namespace dice;

/// (x - mean) / sqrt(variance + 0.001) over the axes, as PyTorch writes it before opset 17; `form` 1 subtracts twice, 2
/// squares by Mul, 3 multiplies by the reciprocal.
builder deviations(int form, std::vector<std::int64_t> axes = {-1}, float epsilon = 0.001f) {
  builder b(13);
  b.input("x", {2, 6, 4, 5}).floats("e", {}, {epsilon}).floats("two", {}, {2}).floats("one", {}, {1});
  set_list(b.node("ReduceMean", {"x"}, {"m"}), "axes", axes);
  b.node("Sub", {"x", "m"}, {"d"});
  if (form == 1) b.node("Sub", {"x", "m"}, {"d2"});
  const std::string d = form == 1 ? "d2" : "d";
  if (form == 2) b.node("Mul", {d, d}, {"q"});
  else b.node("Pow", {d, "two"}, {"q"});
  set_list(b.node("ReduceMean", {"q"}, {"v"}), "axes", axes);
  b.node("Add", {"v", "e"}, {"a"});
  b.node("Sqrt", {"a"}, {"s"});
  if (form == 3) {
    b.node("Div", {"one", "s"}, {"r"});
    b.node("Mul", {"d", "r"}, {"n"});
  } else b.node("Div", {"d", "s"}, {"n"});
  return b;
}

TEST(Normalizations, FromTheirParts) {
  for (const int form : {0, 1, 2, 3}) {
    auto b = deviations(form);
    b.output("n");
    EXPECT_EQ(operators(convert(b)), "LayerNormalization") << form;
    const auto op = first<ops::normalization>(convert(b));
    EXPECT_EQ(op.first, 3);
    EXPECT_EQ(op.last, 4);
    EXPECT_EQ(op.epsilon, 0.001f);
    EXPECT_FALSE(op.scale || op.bias);
  }
  auto channels = deviations(0, {1});
  channels.output("n");
  EXPECT_EQ(first<ops::normalization>(convert(channels)).last, 2);
}

TEST(Normalizations, WithScaleAndBias) {
  auto b = deviations(0);
  b.floats("w", {5}, {1, 2, 3, 4, 5}).floats("c", {5}, {5, 4, 3, 2, 1}).output("y");
  b.node("Mul", {"n", "w"}, {"p"});
  b.node("Add", {"c", "p"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "LayerNormalization");
  const auto op = first<ops::normalization>(net);
  EXPECT_TRUE(op.scale && op.bias);
  EXPECT_EQ(op.scale_shape, (shape{5}));
  EXPECT_EQ(written(net, 0), (floats{1, 2, 3, 4, 5}));
  EXPECT_EQ(written(net, 1), (floats{5, 4, 3, 2, 1}));
  b.output("p");  // read by something else
  EXPECT_EQ(operators(convert(b)), "LayerNormalization Add");
}

TEST(Normalizations, RootOfTheMeanSquare) {
  builder b(18);
  b.input("x", {2, 6}).output("y").floats("e", {}, {1e-6f}).floats("two", {}, {2}).floats("w", {6}, {1, 2, 3, 4, 5, 6});
  b.tensor("axes", onnx::TensorProto::INT64, {1}).add_int64_data(-1);
  b.node("Pow", {"x", "two"}, {"q"});
  b.node("ReduceMean", {"q", "axes"}, {"v"});
  b.node("Add", {"v", "e"}, {"a"});
  b.node("Sqrt", {"a"}, {"s"});
  b.node("Reciprocal", {"s"}, {"r"});
  b.node("Mul", {"x", "r"}, {"n"});
  b.node("Mul", {"w", "n"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "RMSNormalization");
}

TEST(Normalizations, OthersStay) {
  auto axes = deviations(0, {1, 3});  // not neighbours
  axes.output("n");
  EXPECT_EQ(operators(convert(axes)), "ReduceMean Sub Mul ReduceMean Add Sqrt Div");
  auto negative = deviations(0, {-1}, -1.0f);
  negative.output("n");
  EXPECT_EQ(operators(convert(negative)), "ReduceMean Sub Mul ReduceMean Add Sqrt Div");
}

TEST(Normalizations, OfOtherAxesThanTheirMeanStay) {
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{2, 3}, {1, 2}}) {
    auto b = deviations(0, {2});
    b.output("n");
    for (auto& n : *b.graph().mutable_node())
      if (n.output(0) == "v") {
        n.mutable_attribute()->Clear();
        set(n, "axes", axes);
      }
    EXPECT_EQ(operators(convert(b)), "ReduceMean Sub Mul ReduceMean Add Sqrt Div");
  }
}

TEST(Normalizations, TakeOneScaleAndOneBias) {
  const auto with = [](std::vector<std::string> functions) {
    auto b = deviations(0);
    b.floats("c", {5}, {1, 2, 3, 4, 5});
    std::string y = "n";
    for (const auto& f : functions) {
      b.node(f, {y, "c"}, {y + "'"});
      y += "'";
    }
    b.output(y);
    EXPECT_LT(error(b), 1e-6) << y;
    return operators(convert(b));
  };
  EXPECT_EQ(with({"Mul", "Add"}), "LayerNormalization");
  EXPECT_EQ(with({"Add", "Add"}), "LayerNormalization Add");
  EXPECT_EQ(with({"Mul", "Mul"}), "LayerNormalization Mul");
  EXPECT_EQ(with({"Mul", "Add", "Add"}), "LayerNormalization Add");
  EXPECT_EQ(with({"Add", "Mul"}), "LayerNormalization Mul");  // the bias is multiplied, too
}

TEST(Normalizations, OfAnotherShapeStay) {
  auto b = deviations(0);
  b.floats("e5", {1, 1, 1, 1, 1}, {0.001f}).node("Add", {"v", "e5"}, {"a5"});
  b.node("Sqrt", {"a5"}, {"s5"});
  b.node("Div", {"d", "s5"}, {"y"});
  b.output("y");  // five axes
  EXPECT_EQ(operators(convert(b)), "ReduceMean Sub Mul ReduceMean Add Sqrt Div");
}

/// GroupNorm as PyTorch writes it before opset 21.
builder groups(std::vector<float> scale) {
  builder b(13);
  b.input("x", {2, 6, 4, 5}).output("y").floats("ones", {3}, scale).floats("zeros", {3}, {0, 0, 0});
  b.floats("w", {6, 1, 1}, {1, 2, 3, 4, 5, 6}).floats("c", {6, 1, 1}, {6, 5, 4, 3, 2, 1});
  const std::vector<std::int64_t> groups{0, 3, -1}, back{2, 6, 4, 5};
  b.tensor("to", onnx::TensorProto::INT64, {3}).set_raw_data(groups.data(), 24);
  b.tensor("back", onnx::TensorProto::INT64, {4}).set_raw_data(back.data(), 32);
  b.node("Reshape", {"x", "to"}, {"g"});
  b.node("InstanceNormalization", {"g", "ones", "zeros"}, {"i"});
  b.node("Reshape", {"i", "back"}, {"n"});
  b.node("Mul", {"n", "w"}, {"p"});
  b.node("Add", {"p", "c"}, {"y"});
  return b;
}

TEST(Normalizations, GroupsFromAnInstanceNormalization) {
  const auto net = convert(groups({1, 1, 1}));
  EXPECT_EQ(operators(net), "Reshape GroupNormalization Reshape");
  const auto op = first<ops::normalization>(net);
  EXPECT_EQ(op.scale_shape, (shape{3, 2, 1, 1}));
  EXPECT_EQ(op.bias_shape, (shape{3, 2, 1, 1}));
  EXPECT_EQ(written(net, 0), (floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(written(net, 1), (floats{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(net.layers[2].result, (shape{2, 3, 2, 4, 5}));
  EXPECT_EQ(operators(convert(groups({1, 2, 3}))), "Reshape InstanceNormalization Reshape BatchNormalization");
}

TEST(Normalizations, AScaleOfGroupsWithABiasOfChannelsStays) {
  auto b = groups({1, 2, 3});
  b.graph().mutable_node(4)->set_input(0, "n");  // without the Mul
  EXPECT_EQ(operators(convert(b)), "Reshape InstanceNormalization Reshape Add");
}

TEST(Products, AnAddOfConstantsIsTheirBias) {
  builder b;
  b.input("x", {1, 3, 2}).output("y").floats("w", {2, 2}, {1, 2, 3, 4}).floats("c", {2}, {5, 6});
  b.node("MatMul", {"x", "w"}, {"p"});
  b.node("Add", {"c", "p"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "MatMul");
  EXPECT_TRUE(first<ops::mat_mul>(net).bias);
  EXPECT_EQ(written(net, 0), (floats{1, 3, 2, 4}));
  EXPECT_EQ(written(net, 1), (floats{5, 6}));
  builder rows;  // a number for each row is none
  rows.input("x", {1, 3, 2}).output("y").floats("w", {2, 2}, {1, 2, 3, 4}).floats("c", {3, 1}, {5, 6, 7});
  rows.node("MatMul", {"x", "w"}, {"p"});
  rows.node("Add", {"p", "c"}, {"y"});
  EXPECT_EQ(operators(convert(rows)), "MatMul Add");
  builder gemm;
  gemm.input("x", {3, 2}).output("y").floats("w", {2, 2}, {1, 2, 3, 4}).floats("c", {2}, {5, 6});
  gemm.node("Gemm", {"x", "w", "c"}, {"y"});
  EXPECT_EQ(operators(convert(gemm)), "MatMul");
}

/// BatchNormalization with spatial = 0 (opsets 7 and 8), whose statistics have a number for each element of a frame: scale
/// 1, 2, 3 …, bias 10, 20, 30 …, mean 1 and variance 4 - ε.
builder for_each_element(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& statistics, int opset = 7) {
  builder b(opset);
  b.input("x", x).output("y");
  std::size_t n = 1;
  for (const auto d : statistics) n *= static_cast<std::size_t>(d);
  std::vector<float> scale(n), bias(n);
  for (std::size_t i = 0; i < n; ++i) {
    scale[i] = static_cast<float>(i + 1);
    bias[i] = static_cast<float>(10 * i + 10);
  }
  b.floats("s", statistics, scale).floats("b", statistics, bias);
  b.floats("m", statistics, std::vector<float>(n, 1)).floats("v", statistics, std::vector<float>(n, 3.75f));
  auto& node = b.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}, "bn");
  set(node, "spatial", 0);
  set(node, "epsilon", 0.25f);
  return b;
}

/// (x - 1) / 2 · scale + bias; for each channel where the shape of the statistics says so.
TEST(BatchNormalization, OfEachElement) {
  for (const int opset : {7, 8}) {
    const auto rows = for_each_element({1, 3}, {3}, opset);  // behind a fully connected layer
    EXPECT_EQ(operators(convert(rows)), "BatchNormalization");
    EXPECT_EQ(computed(convert(rows), {{"x", {1, 3, 5}}}).at("y"), (floats{10, 22, 36}));
  }
  const auto channels = for_each_element({1, 2, 2, 1}, {2, 1, 1});
  EXPECT_EQ(operators(convert(channels)), "BatchNormalization");
  EXPECT_EQ(computed(convert(channels), {{"x", {1, 3, 1, 3}}}).at("y"), (floats{10, 11, 20, 22}));
  const auto elements = for_each_element({2, 2, 1, 2}, {2, 1, 2});
  EXPECT_EQ(operators(convert(elements)), "Mul Add");
  EXPECT_EQ(computed(convert(elements), {{"x", {1, 3, 5, 7, 1, 1, 1, 3}}}).at("y"),
            (floats{10, 22, 36, 52, 10, 20, 30, 44}));
}

TEST(BatchNormalization, OfEachElementNeedsStatisticsOfEach) {
  const auto text = problems(for_each_element({1, 2, 3, 4}, {2}));
  EXPECT_NE(
      text.find("node \"bn\" (BatchNormalization, opset 7): with its attribute spatial = 0, its statistics need the shape "
                "{2, 3, 4}, a number for each element; its scale is {2}, a number for each channel, which is spatial = "
                "1; remove the attribute spatial, which MXNet's exporter wrote by mistake (docs/own_model.md has the "
                "commands)"),
      std::string::npos)
      << text;
  EXPECT_NE(problems(for_each_element({1, 2, 3, 4}, {2, 3})).find("its scale is {2, 3}; export the model again"),
            std::string::npos);
  auto other = for_each_element({1, 2, 3}, {2, 3});
  other.floats("flat", {6}, {1, 2, 3, 4, 5, 6});
  other.graph().mutable_node(0)->set_input(2, "flat");
  EXPECT_NE(problems(other).find("its statistics differ in shape"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
