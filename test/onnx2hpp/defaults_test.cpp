// What importers take for attributes and inputs that a node leaves out: the defaults of ONNX's operator pages.
#include "convert_model.hpp"

#include "dice/graph/ops.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace onnx2hpp_test {
namespace {

using namespace dice;

/// A node with the input "x" and these further inputs and attributes, and what it becomes.
struct left_out {
  const char* op;
  int opset;
  shape in;
  std::function<void(builder&, onnx::NodeProto&)> given;  ///< what ONNX requires
  std::function<void(const network&)> check;
};

network import(const left_out& c) {
  builder b(c.opset);
  b.input("x", {c.in.dim, c.in.dim + c.in.rank}).output("y");
  auto& n = b.node(c.op, {"x"}, {"y"}, "n");
  if (c.given) c.given(b, n);
  return convert(b);
}
const auto with_kernel = [](builder&, onnx::NodeProto& n) { set(n, "kernel_shape", {2, 3}); };
const auto with_block = [](builder&, onnx::NodeProto& n) { set(n, "blocksize", 2); };

/// A constant input.
auto with(const char* name, std::vector<std::int64_t> values) {
  return [=](builder& b, onnx::NodeProto& n) {
    b.ints(name, values);
    n.add_input(name);
  };
}

const auto a_pool_of = [](const auto& op) {
  EXPECT_EQ(op.strides, (std::array{1, 1}));
  EXPECT_EQ(op.dilations, (std::array{1, 1}));
  EXPECT_EQ(op.pads, (std::array{0, 0, 0, 0}));
  EXPECT_FALSE(op.ceil_mode);
};

const left_out all_left_out[] = {
    {"Conv",
     17,
     {1, 3, 5, 6},
     [](builder& b, onnx::NodeProto& n) {
       b.weights("w", {4, 3, 2, 3});
       n.add_input("w");
     },
     [](const network& net) {
       const auto& op = first<ops::conv>(net);
       EXPECT_EQ(op.kernel, (std::array{2, 3}));  // that of the weights
       EXPECT_EQ(op.strides, (std::array{1, 1}));
       EXPECT_EQ(op.dilations, (std::array{1, 1}));
       EXPECT_EQ(op.pads, (std::array{0, 0, 0, 0}));
       EXPECT_EQ(op.group, 1);
       EXPECT_FALSE(op.bias);
       EXPECT_EQ(result(net), (shape{1, 4, 4, 4}));
     }},
    {"MaxPool", 17, {1, 2, 5, 7}, with_kernel, [](const network& net) { a_pool_of(first<ops::max_pool>(net)); }},
    {"AveragePool",
     19,
     {1, 2, 5, 7},
     with_kernel,
     [](const network& net) {
       a_pool_of(first<ops::average_pool>(net));
       EXPECT_FALSE(first<ops::average_pool>(net).count_include_pad);
     }},
    {"Gemm",
     17,
     {2, 3},  // alpha = beta = 1, nothing is transposed
     [](builder& b, onnx::NodeProto& n) {
       b.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("c", {2}, {7, 8});
       n.add_input("w");
       n.add_input("c");
     },
     [](const network& net) {
       EXPECT_EQ(operators(net), "MatMul");
       EXPECT_EQ(written(net, 0), (std::vector<float>{1, 3, 5, 2, 4, 6}));
       EXPECT_EQ(written(net, 1), (std::vector<float>{7, 8}));
     }},
    {"BatchNormalization",
     17,
     {1, 1, 2, 2},  // epsilon = 1e-5, which is much for these variances
     [](builder& b, onnx::NodeProto& n) {
       b.floats("s", {1}, {3}).floats("b", {1}, {5}).floats("m", {1}, {7}).floats("v", {1}, {3e-5f});
       for (const char* k : {"s", "b", "m", "v"}) n.add_input(k);
     },
     [](const network& net) {
       const double a = 3 / std::sqrt(4e-5);
       EXPECT_NEAR(written(net, 0).at(0), a, 1e-4 * a);
       EXPECT_NEAR(written(net, 1).at(0), 5 - 7 * a, 1e-4 * 7 * a);
     }},
    {"LRN",
     17,
     {1, 8, 2, 2},
     [](builder&, onnx::NodeProto& n) { set(n, "size", 3); },
     [](const network& net) {
       const auto& op = first<ops::lrn>(net);
       EXPECT_EQ(std::tuple(op.alpha, op.beta, op.bias), std::tuple(1e-4f, 0.75f, 1.0f));
     }},
    {"LeakyRelu", 17, {1, 2}, nullptr, [](const network& net) { EXPECT_EQ(first<ops::leaky_relu>(net).alpha, 0.01f); }},
    {"Elu", 17, {1, 2}, nullptr, [](const network& net) { EXPECT_EQ(first<ops::elu>(net).alpha, 1.0f); }},
    {"HardSigmoid",
     17,
     {1, 2},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(first<ops::hard_sigmoid>(net).alpha, 0.2f);
       EXPECT_EQ(first<ops::hard_sigmoid>(net).beta, 0.5f);
     }},
    {"Clip",
     17,
     {1, 2},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(first<ops::clip>(net).low, -std::numeric_limits<float>::infinity());
       EXPECT_EQ(first<ops::clip>(net).high, std::numeric_limits<float>::infinity());
     }},
    {"Clip",
     10,
     {1, 2},
     nullptr,
     [](const network& net) {  // in opset 6 to 10, the limits are the range of float32
       EXPECT_LE(first<ops::clip>(net).low, std::numeric_limits<float>::lowest());
       EXPECT_GE(first<ops::clip>(net).high, std::numeric_limits<float>::max());
     }},
    {"Flatten",
     17,
     {2, 3, 4},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{2, 12}));
     }},
    {"Transpose",
     17,
     {2, 3, 4},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{4, 3, 2}));
     }},
    {"Softmax",
     12,
     {2, 3, 4},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(first<ops::softmax>(net).first, 1);
       EXPECT_EQ(first<ops::softmax>(net).last, 3);
     }},
    {"Softmax",
     13,
     {2, 3, 4},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(first<ops::softmax>(net).first, 2);
       EXPECT_EQ(first<ops::softmax>(net).last, 3);
     }},
    {"Gather",
     17,
     {3, 4},
     with("i", {1, 2}),
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{2, 4}));
     }},
    {"ReduceMean",
     13,
     {2, 3},
     nullptr,
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{1, 1}));
     }},
    {"ReduceMean",
     18,
     {2, 3},
     nullptr,  // no axes: all
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{1, 1}));
     }},
    {"Slice",
     17,
     {4, 5},  // the first axes, step 1
     [](builder& b, onnx::NodeProto& n) {
       with("s", {1})(b, n);
       with("e", {3})(b, n);
     },
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{2, 5}));
       EXPECT_EQ(first<ops::slice>(net).starts[0], 1);
       EXPECT_EQ(first<ops::slice>(net).steps[0], 1);
     }},
    {"Slice",
     9,
     {4, 5},
     [](builder&, onnx::NodeProto& n) {
       set_list(n, "starts", {1});
       set_list(n, "ends", {3});
     },
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{2, 5}));
     }},
    {"Pad",
     10,
     {1, 4},
     [](builder&, onnx::NodeProto& n) {
       set(n, "pads", {0, 1, 0, 2});
     },
     [](const network& net) {
       EXPECT_EQ(first<ops::pad>(net).mode, ops::padding::constant);
       EXPECT_EQ(first<ops::pad>(net).value, 0.0f);
     }},
    {"Pad",
     18,
     {1, 4},
     with("p", {0, 1, 0, 2}),  // all axes
     [](const network& net) {
       EXPECT_EQ(first<ops::pad>(net).mode, ops::padding::constant);
       EXPECT_EQ(first<ops::pad>(net).value, 0.0f);
       EXPECT_EQ(result(net), (shape{1, 7}));
     }},
    {"Reshape",
     17,
     {2, 6},
     with("to", {0, 3, 2}),  // allowzero = 0: 0 keeps the input's extent
     [](const network& net) {
       EXPECT_EQ(result(net), (shape{2, 3, 2}));
     }},
    {"Squeeze", 12, {1, 3, 1}, nullptr, [](const network& net) { EXPECT_EQ(result(net), (shape{3})); }},
    {"Squeeze", 13, {1, 3, 1}, nullptr, [](const network& net) { EXPECT_EQ(result(net), (shape{3})); }},
    {"DepthToSpace",
     17,
     {1, 8, 1, 1},
     with_block,  // mode DCR
     [](const network& net) { EXPECT_EQ(first<ops::depth_to_space>(net).groups, 1); }},
    {"DepthToSpace",
     9,
     {1, 8, 1, 1},
     with_block,
     [](const network& net) { EXPECT_EQ(first<ops::depth_to_space>(net).groups, 1); }},
    {"Upsample",
     7,
     {1, 2},
     [](builder&, onnx::NodeProto& n) {
       auto* scales = n.add_attribute();
       scales->set_name("scales");
       scales->set_type(onnx::AttributeProto::FLOATS);
       scales->add_floats(1);
       scales->add_floats(3);
     },
     [](const network& net) { EXPECT_EQ(first<ops::resize>(net).factors[1], 3); }},  // mode nearest
    {"Dropout", 17, {1, 2}, nullptr, [](const network& net) { EXPECT_EQ(operators(net), ""); }},
    {"Dropout", 7, {1, 2}, nullptr, [](const network& net) { EXPECT_EQ(operators(net), ""); }},
};

TEST(Defaults, AreThoseOfOnnx) {
  for (const auto& c : all_left_out) {
    SCOPED_TRACE(c.op + std::string(", opset ") + std::to_string(c.opset));
    ASSERT_NO_THROW(c.check(import(c)));
  }
}

// The default half_pixel, and round_prefer_floor, repeat elements for a factor of 3, and for 2; other modes do not.
TEST(Defaults, OfResizeRepeatElements) {
  for (const float factor : {2.0f, 3.0f, 4.0f}) {
    builder b(19);
    b.input("x", {1, 2}).output("y").floats("scales", {2}, {1, factor});
    b.node("Resize", {"x", "", "scales"}, {"y"});
    EXPECT_EQ(problems(b), "");
    EXPECT_EQ(result(convert(b)), (shape{1, static_cast<std::int64_t>(2 * factor)}));
  }
}

// Attributes that ONNX requires have no default.
TEST(Defaults, AreMissingWhereOnnxHasNone) {
  const std::pair<const char*, const char*> required[] = {{"LRN", "no size"},
                                                          {"Concat", "no axis"},
                                                          {"MaxPool", "kernel"},
                                                          {"AveragePool", "kernel"},
                                                          {"DepthToSpace", "blocksize"},
                                                          {"SpaceToDepth", "blocksize"},
                                                          {"Cast", ""}};
  for (const auto& [op, why] : required) {
    builder b;
    b.input("x", {1, 4, 4, 4}).output("y");
    b.node(op, {"x"}, {"y"}, "n");
    const auto text = problems(b);
    EXPECT_NE(text, "") << op;
    EXPECT_NE(text.find(why), std::string::npos) << op << ": " << text;
  }
}

/// One importer's numbers, none of which is neutral.
TEST(Values, OfBatchNormalization) {
  builder b;
  b.input("x", {1, 2, 2, 2}).output("y");
  b.floats("s", {2}, {3, -2}).floats("b", {2}, {5, 0.5f}).floats("m", {2}, {7, -1.5f}).floats("v", {2}, {2, 6});
  set(b.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}), "epsilon", 0.25f);
  const auto net = convert(b);
  const auto a = written(net, 0), c = written(net, 1);
  EXPECT_FLOAT_EQ(a.at(0), 2);      // 3 / √2.25
  EXPECT_FLOAT_EQ(a.at(1), -0.8f);  // -2 / √6.25
  EXPECT_FLOAT_EQ(c.at(0), 5 - 7 * 2);
  EXPECT_FLOAT_EQ(c.at(1), 0.5f - 1.5f * 0.8f);
}

TEST(Values, OfGemm) {
  const auto gemm = [](shape c, std::vector<float> values) {
    builder b;
    b.input("x", {2, 2}).output("y").floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
    b.floats("c", {c.dim, c.dim + c.rank}, values);
    auto& n = b.node("Gemm", {"x", "w", "c"}, {"y"});
    set(n, "alpha", 3.0f);
    set(n, "beta", -0.5f);
    return convert(b);
  };
  const std::vector<float> w{3, 12, 6, 15, 9, 18};
  // A bias of a row, as it is and spread; and one that depends on the row.
  for (const auto& [c, values, wanted] : {std::tuple{shape{3}, std::vector<float>{2, 4, 6}, std::vector<float>{-1, -2, -3}},
                                          {shape{1, 3}, {2, 4, 6}, {-1, -2, -3}},
                                          {shape{1}, {8}, {-4, -4, -4}}}) {
    const auto net = gemm(c, values);
    EXPECT_EQ(operators(net), "MatMul");
    EXPECT_EQ(written(net, 0), w);
    EXPECT_EQ(written(net, 1), wanted);
  }
  auto net = gemm({2, 1}, {10, 20});
  EXPECT_EQ(operators(net), "MatMul Add");
  EXPECT_EQ(written(net, 0), w);
  std::swap(net.layers[1], net.layers[2]);  // written() reads the first layer with parameters
  EXPECT_EQ(written(net, 0), (std::vector<float>{-5, -10}));
}

TEST(Values, OfAttributes) {
  const auto one = [](const char* op, std::initializer_list<std::pair<const char*, float>> attributes) {
    builder b;
    b.input("x", {1, 8, 2, 2}).output("y");
    auto& n = b.node(op, {"x"}, {"y"});
    if (op == std::string("LRN")) set(n, "size", 3);
    for (const auto& [name, value] : attributes) set(n, name, value);
    return convert(b);
  };
  const auto lrn = one("LRN", {{"alpha", 0.25f}, {"beta", 0.375f}, {"bias", 3.0f}});
  EXPECT_EQ(first<ops::lrn>(lrn).alpha, 0.25f);
  EXPECT_EQ(first<ops::lrn>(lrn).beta, 0.375f);
  EXPECT_EQ(first<ops::lrn>(lrn).bias, 3.0f);
  const auto hard = one("HardSigmoid", {{"alpha", 0.25f}, {"beta", 0.125f}});
  EXPECT_EQ(first<ops::hard_sigmoid>(hard).alpha, 0.25f);
  EXPECT_EQ(first<ops::hard_sigmoid>(hard).beta, 0.125f);
  EXPECT_EQ(first<ops::elu>(one("Elu", {{"alpha", 0.25f}})).alpha, 0.25f);
  EXPECT_EQ(first<ops::leaky_relu>(one("LeakyRelu", {{"alpha", 0.25f}})).alpha, 0.25f);
}

}  // namespace
}  // namespace onnx2hpp_test
