// Functions of each element, and what exporters write as several operators; Split, Max, Min, Mean, PRelu.
#include "convert_model.hpp"

#include "dice/graph/ops.hpp"

namespace onnx2hpp_test {
namespace {

using namespace dice;
using kind = graph::activation::kind;

graph::activation function(builder& b) { return first<ops::elementwise>(convert(b)).function; }

TEST(Functions, OfEachName) {
  for (const auto op : graph::elementwise_names) EXPECT_EQ(operators(convert(one(std::string(op), {1, 2}))), op);
  for (const auto& [op, opset] : std::initializer_list<std::pair<const char*, int>>{{"Celu", 11},
                                                                                    {"Erf", 8},
                                                                                    {"Gelu", 19},
                                                                                    {"Mish", 17},
                                                                                    {"Round", 10},
                                                                                    {"Sign", 8},
                                                                                    {"Swish", 23},
                                                                                    {"ThresholdedRelu", 9}})
    EXPECT_NE(problems(one(op, {1, 2}, opset)).find("exists only from opset " + std::to_string(opset + 1)),
              std::string::npos)
        << op;
}

TEST(Functions, Attributes) {
  auto b = one("Celu", {1, 2});
  EXPECT_EQ(function(b), (graph::activation{kind::celu, 1}));
  set(node_of(b), "alpha", 2.5f);
  EXPECT_EQ(function(b), (graph::activation{kind::celu, 2.5f}));
  set(node_of(b), "alpha", 0.0f);
  EXPECT_NE(problems(b).find("its attribute alpha is 0"), std::string::npos);
  auto s = one("Selu", {1, 2});
  EXPECT_EQ(function(s), (graph::activation{kind::selu, 1.67326319f, 1.05070102f}));
  set(node_of(s), "alpha", 2.0f);
  set(node_of(s), "gamma", 3.0f);
  EXPECT_EQ(function(s), (graph::activation{kind::selu, 2, 3}));
  auto w = one("Swish", {1, 2});
  EXPECT_EQ(function(w), (graph::activation{kind::swish, 1}));
  set(node_of(w), "alpha", 1.5f);
  EXPECT_EQ(function(w), (graph::activation{kind::swish, 1.5f}));
  auto t = one("ThresholdedRelu", {1, 2});
  EXPECT_EQ(function(t), (graph::activation{kind::thresholded_relu, 1}));
  auto g = one("Gelu", {1, 2});
  EXPECT_EQ(function(g).is, kind::gelu);
  set(node_of(g), "approximate", "tanh");
  EXPECT_EQ(function(g).is, kind::gelu_tanh);
  set(node_of(g), "approximate", "sigmoid");
  EXPECT_NE(problems(g).find("its attribute approximate is \"sigmoid\""), std::string::npos);
}

TEST(Functions, SwiGluIsAProduct) {
  builder b(28);
  b.input("a", {1, 4}).input("b", {1, 4}).output("y");
  set(b.node("SwiGLU", {"a", "b"}, {"y"}), "alpha", 1.5f);
  EXPECT_EQ(operators(convert(b)), "Swish Mul");
  EXPECT_EQ(first<ops::elementwise>(convert(b)).function, (graph::activation{kind::swish, 1.5f}));
}

TEST(Functions, PowByANumber) {
  const auto pow = [](float exponent) {
    builder b;
    b.input("x", {1, 2}).output("y").floats("e", {}, {exponent});
    b.node("Pow", {"x", "e"}, {"y"});
    return convert(b);
  };
  EXPECT_EQ(operators(pow(1)), "");
  EXPECT_EQ(operators(pow(2)), "Mul");
  EXPECT_EQ(operators(pow(0.5f)), "Sqrt");
  EXPECT_EQ(operators(pow(-1)), "Reciprocal");
  EXPECT_EQ(operators(pow(3)), "Pow");
  EXPECT_EQ(first<ops::pow>(pow(3)).which, ops::constant::second);
  builder b;
  b.input("x", {1, 2}).output("y").floats("e", {2}, {1, 2});
  b.node("Pow", {"x", "e"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Pow");
}

/// A function of x in parts.
struct parts : builder {
  parts() {
    input("x", {1, 4, 3, 3}).output("y");
    floats("half", {}, {0.5f}).floats("one", {1}, {1}).floats("root", {}, {1.41421354f}).floats("by", {}, {0.707106769f});
  }
};

TEST(Functions, OfProductsAreOneLayer) {
  parts silu;
  silu.node("Sigmoid", {"x"}, {"s"});
  silu.node("Mul", {"s", "x"}, {"y"});
  EXPECT_EQ(operators(convert(silu)), "Swish");
  EXPECT_EQ(first<ops::elementwise>(convert(silu)).function, (graph::activation{kind::swish, 1}));
  parts swish;
  set(swish.node("HardSigmoid", {"x"}, {"s"}), "alpha", 1.0f / 6);
  swish.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(swish)), "HardSwish");
  parts mish;
  mish.node("Softplus", {"x"}, {"s"});
  mish.node("Tanh", {"s"}, {"t"});
  mish.node("Mul", {"x", "t"}, {"y"});
  EXPECT_EQ(operators(convert(mish)), "Mish");
}

TEST(Functions, GeluInEachOrder) {
  for (const int order : {0, 1, 2, 3}) {
    parts b;
    if (order == 3) b.node("Mul", {"x", "by"}, {"z"});
    else b.node("Div", {"x", "root"}, {"z"});
    b.node("Erf", {"z"}, {"e"});
    b.node("Add", {"e", "one"}, {"a"});
    if (order == 0) {
      b.node("Mul", {"x", "a"}, {"m"});
      b.node("Mul", {"m", "half"}, {"y"});
    }
    if (order == 1) {
      b.node("Mul", {"x", "half"}, {"m"});
      b.node("Mul", {"m", "a"}, {"y"});
    }
    if (order >= 2) {
      b.node("Mul", {"half", "a"}, {"m"});
      b.node("Mul", {"x", "m"}, {"y"});
    }
    EXPECT_EQ(operators(convert(b)), "Gelu") << order;
  }
}

/// sqrt(2 / π) (x + 0.044715 x³) in the forms of exporters, and 1 + tanh of it.
parts tanh_of_a_cube(int form) {
  parts b;
  b.floats("c", {}, {0.044715f}).floats("d", {}, {0.79788456f}).floats("two", {}, {2}).floats("three", {}, {3});
  if (form == 0) b.node("Pow", {"x", "three"}, {"p"});
  else b.node("Mul", {"x", "x"}, {"q"});
  if (form == 1) b.node("Mul", {"q", "x"}, {"p"});
  if (form < 2) {
    b.node("Mul", {"p", "c"}, {"s"});
    b.node("Add", {"x", "s"}, {"a"});
    b.node("Mul", {"a", "d"}, {"i"});
  } else {
    b.node("Mul", {"q", "c"}, {"s"});
    b.node("Add", {"s", "one"}, {"a"});
    b.node("Mul", {"x", "d"}, {"e"});
    b.node("Mul", {"e", "a"}, {"i"});
  }
  b.node("Tanh", {"i"}, {"t"});
  b.node("Add", {"t", "one"}, {"f"});
  return b;
}

TEST(Functions, GeluByTanh) {
  for (const int form : {0, 1, 2}) {
    auto b = tanh_of_a_cube(form);
    b.node("Mul", {"x", "half"}, {"m"});
    b.node("Mul", {"m", "f"}, {"y"});
    EXPECT_EQ(operators(convert(b)), "Gelu") << form;
    EXPECT_EQ(first<ops::elementwise>(convert(b)).function.is, kind::gelu_tanh);
    auto whole = tanh_of_a_cube(form);  // without the factor 1/2
    whole.node("Mul", {"x", "f"}, {"y"});
    EXPECT_EQ(operators(convert(whole)).find("Gelu"), std::string::npos);
  }
}

TEST(Functions, OfProducts) {  // x is a product itself
  parts b;
  b.node("Relu", {"x"}, {"r"});
  b.node("Mul", {"x", "r"}, {"z"});
  b.node("Sigmoid", {"z"}, {"s"});
  b.node("Mul", {"z", "s"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu Mul Swish");
}

TEST(Functions, OtherProductsStay) {
  parts other;  // the sigmoid of something else
  other.node("Relu", {"x"}, {"r"});
  other.node("Sigmoid", {"r"}, {"s"});
  other.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(other)), "Relu Sigmoid Mul");
  parts twice;  // 2 x sigmoid(x)
  twice.floats("two", {}, {2}).node("Sigmoid", {"x"}, {"s"});
  twice.node("Mul", {"x", "s"}, {"m"});
  twice.node("Mul", {"m", "two"}, {"y"});
  EXPECT_EQ(operators(convert(twice)), "Swish Mul");
  parts gelu;  // without the factor 1/2
  gelu.node("Div", {"x", "root"}, {"z"});
  gelu.node("Erf", {"z"}, {"e"});
  gelu.node("Add", {"e", "one"}, {"a"});
  gelu.node("Mul", {"x", "a"}, {"y"});
  EXPECT_EQ(operators(convert(gelu)), "Div Erf Add Mul");
  parts hard;  // HardSigmoid's own alpha
  hard.node("HardSigmoid", {"x"}, {"s"});
  hard.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(hard)), "HardSigmoid Mul");
  builder channels;  // a gate for each channel, as in squeeze-and-excitation
  channels.input("x", {1, 4, 3, 3}).output("y");
  channels.node("GlobalAveragePool", {"x"}, {"p"});
  channels.node("Sigmoid", {"p"}, {"s"});
  channels.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(channels)), "GlobalAveragePool Sigmoid Mul");
}

TEST(Split, BecomesSlices) {
  const auto split = [](int opset, std::vector<std::int64_t> sizes, std::int64_t outputs = 0) {
    builder b(opset);
    b.input("x", {1, 6, 5}).output("a").output("b");
    auto& n = b.node("Split", {"x"}, {"a", "b"});
    set(n, "axis", 1);
    if (opset < 13 && !sizes.empty()) set_list(n, "split", sizes);
    if (opset >= 13 && !sizes.empty()) {
      b.ints("sizes", sizes);
      n.add_input("sizes");
    }
    if (outputs > 0) set(n, "num_outputs", outputs);
    return b;
  };
  for (const int opset : {11, 13, 18}) {
    auto b = split(opset, {2, 4});
    const auto net = convert(b);
    EXPECT_EQ(operators(net), "Slice Slice");
    EXPECT_EQ(net.layers[1].result, (shape{1, 2, 5}));
    EXPECT_EQ(net.layers[2].result, (shape{1, 4, 5}));
    EXPECT_EQ(net.layers[2].op.get_if<ops::slice>()->starts[1], 2);
  }
  EXPECT_EQ(convert(split(13, {})).layers[2].result, (shape{1, 3, 5}));
  EXPECT_EQ(convert(split(18, {}, 2)).layers[2].result, (shape{1, 3, 5}));
  EXPECT_NE(problems(split(18, {}, 3)).find("num_outputs is not the number of its outputs"), std::string::npos);
  EXPECT_NE(problems(split(13, {2, 5})).find("its parts are larger than its input"), std::string::npos);
  EXPECT_NE(problems(split(13, {2, 3})).find("its parts are smaller than its input"), std::string::npos);
  EXPECT_NE(problems(split(13, {0, 6})).find("one of its parts is empty"), std::string::npos);
  EXPECT_NE(problems(split(11, {1, 2, 3})).find("as many parts as outputs"), std::string::npos);
}

TEST(Variadic, MaxMinMean) {
  for (const char* op : {"Max", "Min", "Mean"}) {
    builder b;
    b.input("x", {1, 2, 3}).input("z", {2, 3}).output("y").floats("c", {3}, {1, 2, 3});
    b.node(op, {"c", "x", "z"}, {"y"});
    const auto net = convert(b);
    EXPECT_EQ(operators(net), op == std::string("Mean") ? "Sum Add Mul" : std::string(op) + " " + op);
    EXPECT_EQ(net.layers[net.layers.size() - 2].result, (shape{1, 2, 3}));
  }
  builder b;
  b.input("x", {1, 2}).output("y").node("Max", {"x"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "");
}

TEST(PRelu, ByANumberIsLeakyRelu) {
  builder b;
  b.input("x", {1, 2, 4}).output("y").floats("s", {2, 1}, {0.5f, 0.25f});
  b.node("PRelu", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "PRelu");
  builder c;
  c.input("x", {1, 2, 4}).output("y").floats("s", {1}, {0.5f});
  c.node("PRelu", {"x", "s"}, {"y"});
  EXPECT_EQ(first<ops::leaky_relu>(convert(c)).alpha, 0.5f);
  builder d;
  d.input("x", {2, 1}).output("y").floats("k", {1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  d.node("PRelu", {"k", "x"}, {"y"});
  EXPECT_NE(problems(d).find("its input is a constant, and its slope is not"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
