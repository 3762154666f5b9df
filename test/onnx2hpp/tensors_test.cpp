// Products of two activations, normalizations, reductions, ConvTranspose, Attention, and what moves or repeats elements.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

#include <limits>

namespace onnx2hpp_test {
namespace {

using namespace dice;

TEST(MatMul, OfTwoActivations) {
  const auto product = convert(one("MatMul", {2, 3, 5, 7}, 13, {3, 7, 9}));
  EXPECT_EQ(operators(product), "Einsum");
  EXPECT_EQ(result(product), (shape{2, 3, 5, 9}));
  EXPECT_EQ(first<ops::einsum>(product).depth, (std::array<int, 2>{3, 1}));
  EXPECT_EQ(result(convert(one("MatMul", {7}, 13, {3, 7, 9}))), (shape{3, 9}));
  EXPECT_EQ(result(convert(one("MatMul", {5, 7}, 13, {7}))), (shape{5}));
  EXPECT_NE(problems(one("MatMul", {5, 7}, 13, {6, 9})).find("the inputs differ on the axis of the sum"), std::string::npos);
}

TEST(Einsum, Equations) {
  const auto of = [](const char* equation, const shape& x, const shape& z) {
    auto b = one("Einsum", x, 12, z);
    set(node_of(b), "equation", equation);
    return b;
  };
  EXPECT_EQ(result(convert(of("bhwc,hkc->bhwk", {2, 3, 4, 5}, {3, 7, 5}))), (shape{2, 3, 4, 7}));
  EXPECT_EQ(result(convert(of("...ij, ...jk", {2, 3, 4}, {1, 4, 5}))), (shape{2, 3, 5}));
  EXPECT_EQ(operators(convert(of("ij,kj->k", {2, 3}, {4, 3}))), "ReduceSum Einsum");
  EXPECT_EQ(operators(convert(of("abc,bcd->ad", {2, 3, 4}, {3, 4, 5}))), "Transpose Reshape Transpose Reshape Einsum");
  EXPECT_EQ(operators(convert(of("ij->ji", {2, 3}, {}))), "Transpose");
  EXPECT_NE(problems(of("ii->i", {2, 2}, {})).find("a diagonal"), std::string::npos);
  EXPECT_NE(problems(of("ij,jk->iq", {2, 3}, {3, 4})).find("one that no operand has"), std::string::npos);
  EXPECT_NE(problems(of("ij->ji", {2, 3}, {3, 4})).find("a term for each input"), std::string::npos);
  EXPECT_NE(problems(of("abcde,fghij->abcdefghij", {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1})).find("more than 8 axes"),
            std::string::npos);
  EXPECT_NE(problems(of("i9->9i", {2, 3}, {})).find("its equation has a \"9\""), std::string::npos);
  for (const char* dots : {"i.,jk->ijk", "...i...,jk->ijk", "i..,jk->ijk"})
    EXPECT_NE(problems(of(dots, {2, 3}, {3, 4})).find("dots other than one \"...\""), std::string::npos) << dots;
  EXPECT_NE(problems(of("ijk,jk->i", {2, 3}, {3, 4})).find("does not fit the rank"), std::string::npos);
}

TEST(Normalizations, Attributes) {
  builder b(17);
  b.input("x", {2, 3, 4}).output("y").floats("s", {4}, {1, 2, 3, 4}).floats("t", {4}, {1, 2, 3, 4});
  set(b.node("LayerNormalization", {"x", "s", "t"}, {"y"}), "epsilon", 1e-3f);
  const auto op = first<ops::normalization>(convert(b));
  EXPECT_EQ(op.how, ops::normalizing::layer);
  EXPECT_EQ(op.first, 2);
  EXPECT_EQ(op.last, 3);
  EXPECT_EQ(op.epsilon, 1e-3f);
  EXPECT_EQ(op.scale_shape, (shape{4}));
  EXPECT_TRUE(op.scale && op.bias);

  builder late(23);  // a scale that is computed
  late.input("x", {2, 3}).input("s", {3}).output("y");
  late.node("RMSNormalization", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(late)), "RMSNormalization Mul");

  const auto group = [](int opset, std::int64_t elements) {
    builder g(opset);
    g.input("x", {1, 6, 2, 2}).output("y");
    g.floats("s", {elements}, std::vector<float>(static_cast<std::size_t>(elements), 2));
    set(g.node("GroupNormalization", {"x", "s", "s"}, {"y"}), "num_groups", 2);
    return g;
  };
  EXPECT_EQ(first<ops::normalization>(convert(group(18, 2))).scale_shape, (shape{2, 1, 1, 1}));
  EXPECT_EQ(first<ops::normalization>(convert(group(21, 6))).scale_shape, (shape{2, 3, 1, 1}));
  builder ones(17);  // change nothing
  ones.input("x", {1, 2, 3}).output("y").floats("s", {2}, {1, 1}).floats("t", {2}, {0, 0});
  ones.node("InstanceNormalization", {"x", "s", "t"}, {"y"});
  const auto plain = first<ops::normalization>(convert(ones));
  EXPECT_FALSE(plain.scale || plain.bias);
  EXPECT_NE(problems(group(21, 2)).find("does not have 6 elements"), std::string::npos);

  auto lp = one("LpNormalization", {2, 3});
  set(node_of(lp), "p", 3);
  EXPECT_NE(problems(lp).find("its p is 3"), std::string::npos);
}

TEST(Reductions, KindsAndForms) {
  for (const auto& [name, layers] : std::initializer_list<std::pair<const char*, const char*>>{
           {"ReduceMax", "ReduceMax"},
           {"ReduceMin", "ReduceMin"},
           {"ReduceProd", "ReduceProd"},
           {"ReduceSum", "ReduceSum"},
           {"ReduceSumSquare", "ReduceSumSquare"},
           {"ReduceL1", "Abs ReduceSum"},
           {"ReduceL2", "ReduceSumSquare Sqrt"},
           {"ReduceLogSum", "ReduceSum Log"},
           {"ReduceLogSumExp", "ReduceMax Clip Sub Exp ReduceSum Log Add"}})
    EXPECT_EQ(operators(convert(one(name, {2, 3}))), layers);
  auto b = one("GlobalMaxPool", {1, 3, 4, 5});
  EXPECT_EQ(result(convert(b)), (shape{1, 3, 1, 1}));
  // A sum has its axes as an input from opset 13 on, the others from opset 18 on.
  auto sum = one("ReduceSum", {2, 3, 4}, 11), largest = one("ReduceMax", {2, 3, 4}, 13);
  set_list(node_of(sum), "axes", {1});
  set_list(node_of(largest), "axes", {1});
  EXPECT_EQ(result(convert(sum)), (shape{2, 1, 4}));
  EXPECT_EQ(result(convert(largest)), (shape{2, 1, 4}));
}

TEST(ConvTranspose, IsAConvAndADepthToSpace) {
  const auto of = [](int kernel, int stride, std::vector<std::int64_t> pads, std::int64_t more = 0, std::int64_t group = 1) {
    builder b;
    b.input("x", {1, 4, 5, 6}).output("y");
    b.floats("w", {4, 2, kernel, kernel}, std::vector<float>(static_cast<std::size_t>(8 * kernel * kernel), 1));
    auto& n = b.node("ConvTranspose", {"x", "w"}, {"y"});
    set(n, "strides", {stride, stride});
    set(n, "pads", pads);
    set(n, "output_padding", {more, more});
    set(n, "group", group);
    return b;
  };
  const auto twice = convert(of(2, 2, {0, 0, 0, 0}));
  EXPECT_EQ(operators(twice), "Conv DepthToSpace");
  EXPECT_EQ(first<ops::conv>(twice).channels, 8);
  EXPECT_EQ(first<ops::conv>(twice).kernel, (std::array<int, 2>{1, 1}));
  EXPECT_EQ(result(twice), (shape{1, 2, 10, 12}));
  EXPECT_EQ(operators(convert(of(3, 1, {1, 1, 1, 1}))), "Conv");
  EXPECT_EQ(result(convert(of(3, 2, {1, 1, 1, 1}, 1))), (shape{1, 2, 10, 12}));
  EXPECT_EQ(result(convert(of(4, 3, {0, 1, 2, 1}, 0, 2))), (shape{1, 4, 14, 17}));
  EXPECT_NE(problems(of(3, 1 << 24, {0, 0, 0, 0})).find("a constant of more than"), std::string::npos);
  EXPECT_NE(problems(of(3, 2, {9, 9, 9, 9})).find("its pads leave nothing"), std::string::npos);
}

/// What is cropped so that the result has the extent `output_shape`: ONNX's text has the formulas, the numbers are ONNX
/// Runtime's.
TEST(ConvTranspose, ToAShape) {
  const auto of = [](std::int64_t to, const char* automatic, std::int64_t stride = 2, std::int64_t more = 0) {
    builder b;
    b.input("x", {1, 1, 2}).output("y").floats("w", {1, 1, 3}, {1, 10, 100});
    auto& n = b.node("ConvTranspose", {"x", "w"}, {"y"});
    set_list(n, "strides", {stride});
    set_list(n, "output_padding", {more});
    set(n, "auto_pad", automatic);
    if (to > 0) set_list(n, "output_shape", {to});
    return b;
  };
  const auto computes = [&](const builder& b) { return computed(convert(b), {{"x", {1, 2}}}).at("y"); };
  EXPECT_EQ(computes(of(5, "NOTSET")), (floats{1, 10, 102, 20, 200}));
  EXPECT_EQ(computes(of(4, "NOTSET")), (floats{10, 102, 20, 200}));
  EXPECT_EQ(computes(of(4, "SAME_LOWER")), (floats{10, 102, 20, 200}));
  EXPECT_EQ(computes(of(4, "SAME_UPPER")), (floats{1, 10, 102, 20}));
  EXPECT_EQ(computes(of(0, "SAME_LOWER")), (floats{10, 102, 20, 200}));
  EXPECT_EQ(computes(of(0, "SAME_UPPER")), (floats{1, 10, 102, 20}));
  EXPECT_EQ(computes(of(2, "NOTSET")), (floats{102, 20}));
  EXPECT_EQ(computes(of(2, "SAME_UPPER")), (floats{10, 102}));
  EXPECT_EQ(computes(of(0, "NOTSET", 2, 1)), (floats{1, 10, 102, 20, 200, 0}));
  EXPECT_EQ(computes(of(6, "NOTSET")), (floats{1, 10, 102, 20, 200, 0}));  // as PyTorch's output_size
  EXPECT_NE(problems(of(7, "NOTSET")).find("its output_shape is 7 on an axis where its input gives at most 6"),
            std::string::npos);
  EXPECT_EQ(problems(of(4, "NOTSET", 1)).find("output_shape"), std::string::npos);
  EXPECT_NE(problems(of(5, "NOTSET", 1)).find("its output_shape is 5"), std::string::npos);
  EXPECT_NE(problems(of(0, "NOTSET", 2, 2)).find("its output padding is 2, and not smaller than stride or dilation"),
            std::string::npos);
}

TEST(Attention, OfHeadsThatShareKeys) {
  builder b(23);
  b.input("q", {2, 6, 5, 8}).input("k", {2, 3, 7, 8}).input("v", {2, 3, 7, 4}).output("y");
  auto& n = b.node("Attention", {"q", "k", "v"}, {"y"});
  EXPECT_EQ(result(convert(b)), (shape{2, 6, 5, 4}));
  EXPECT_EQ(operators(convert(b)), "Reshape Einsum Reshape Softmax Reshape Einsum Reshape");
  set(n, "is_causal", 1);
  EXPECT_EQ(operators(convert(b)), "Reshape Einsum Reshape Add Softmax Reshape Einsum Reshape");
  set(n, "softcap", 2.0f);
  EXPECT_EQ(operators(convert(b)), "Reshape Einsum Reshape Mul Tanh Mul Add Softmax Reshape Einsum Reshape");
  builder flat(23);
  flat.input("q", {2, 5, 48}).input("k", {2, 7, 24}).input("v", {2, 7, 12}).output("y");
  auto& m = flat.node("Attention", {"q", "k", "v"}, {"y"});
  set(m, "q_num_heads", 6);
  set(m, "kv_num_heads", 3);
  EXPECT_EQ(result(convert(flat)), (shape{2, 5, 24}));
  builder cached(23);
  cached.input("q", {2, 6, 5, 8}).input("k", {2, 6, 7, 8}).input("p", {2, 6, 1, 8}).output("y").output("all");
  auto& c = cached.node("Attention", {"q", "k", "k", "", "p", "p"}, {"y", "all"});
  EXPECT_EQ(result(convert(cached)), (shape{2, 6, 8, 8}));
  c.set_input(5, "");
  EXPECT_NE(problems(cached).find("a cache of keys or of values, not of both"), std::string::npos);
}

TEST(Where, WithAConstantCondition) {
  builder b(16);
  b.input("x", {2, 3}).input("z", {2, 3}).output("y").ints("c", {1, 0, 1}).floats("k", {}, {7});
  set(b.node("Cast", {"c"}, {"m"}), "to", 9);
  auto& n = b.node("Where", {"m", "x", "k"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Where");
  n.set_input(2, "z");
  EXPECT_EQ(operators(convert(b)), "Where Where Add");
  n.set_input(1, "k");
  EXPECT_EQ(operators(convert(b)), "Where");
}

TEST(Where, OfWhatIsNotANumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  builder b;
  b.input("x", {2, 2}).input("z", {2, 2}).output("y").floats("k", {1}, {7});
  b.node("Softmax", {"x"}, {"s"});
  b.node("IsNaN", {"s"}, {"m"});
  auto& n = b.node("Where", {"m", "k", "s"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Softmax Where");  // as exporters write an attention with a mask
  EXPECT_EQ(computed(convert(b), {{"x", {-infinity, -infinity, 1, 1}}, {"z", {}}}).at("y"),
            (std::vector<float>{7, 7, 0.5f, 0.5f}));
  n.set_input(2, "z");  // another tensor than the one that is tested
  EXPECT_EQ(operators(convert(b)), "Softmax Sign Where Sub Max Div Mul Where");
  builder alone;
  alone.input("x", {6}).output("y");
  alone.node("IsNaN", {"x"}, {"y"});
  EXPECT_EQ(operators(convert(alone)), "Sign Where Sub Max");
  EXPECT_EQ(computed(convert(alone), {{"x", {-infinity, infinity, nan, 0, -2, 5}}}).at("y"),
            (std::vector<float>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(first<ops::output>(convert(alone)).number, tensor::number::boolean);
}

TEST(Movement, ExpandTileGatherConcat) {
  builder e;
  e.input("x", {3, 1}).output("y").ints("s", {2, 1, 4});
  e.node("Expand", {"x", "s"}, {"y"});
  EXPECT_EQ(operators(convert(e)), "Reshape Tile");
  EXPECT_EQ(result(convert(e)), (shape{2, 3, 4}));
  builder t;
  t.input("x", {3, 2}).output("y").ints("r", {1, 1});
  t.node("Tile", {"x", "r"}, {"y"});
  EXPECT_EQ(operators(convert(t)), "");
  builder many;
  many.input("x", {2}).output("y").ints("r", {std::int64_t{1} << 62});
  many.node("Tile", {"x", "r"}, {"y"});
  EXPECT_NE(problems(many).find("out of range"), std::string::npos);
  builder g;
  g.input("x", {2, 8}).output("y");
  auto& indices = g.tensor("i", onnx::TensorProto::INT64, {2, 3});
  for (const std::int64_t i : {0, 2, 4, 7, 6, 5}) indices.add_int64_data(i);
  set(g.node("Gather", {"x", "i"}, {"y"}), "axis", 1);
  EXPECT_EQ(operators(convert(g)), "Slice Slice Concat Reshape");
  EXPECT_EQ(result(convert(g)), (shape{2, 2, 3}));
  builder c;
  c.input("x", {1, 2, 3}).output("y").floats("k", {1, 1, 3}, {1, 2, 3});
  set(c.node("Concat", {"k", "x"}, {"y"}), "axis", 1);
  EXPECT_EQ(operators(convert(c)), "Pad Add");
  EXPECT_EQ(result(convert(c)), (shape{1, 3, 3}));
}

}  // namespace
}  // namespace onnx2hpp_test
