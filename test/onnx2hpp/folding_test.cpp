// What is folded away: BatchNormalization, Dropout, Identity, constants; and what must not be.
#include "folded.hpp"

#include "dice/graph/ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace onnx2hpp_test {
namespace {

using namespace dice;

builder normalised() {
  builder b;
  b.input("x", {1, 1, 2, 2}).output("y").floats("w", {2, 1, 1, 1}, {3, 5}).floats("b", {2}, {1, 2});
  b.floats("scale", {2}, {3, -2}).floats("shift", {2}, {10, 20}).floats("mean", {2}, {1, -1}).floats("var", {2}, {2, 6});
  b.node("Conv", {"x", "w", "b"}, {"c"}, "conv");
  set(b.node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"y"}, "bn"), "epsilon", 0.25f);
  return b;
}

TEST(BatchNormalization, IsTakenUpByTheConvolution) {
  // a = scale / √(var + ε) = (2, -0.8); b = shift - mean · a = (8, 19.2)
  const auto net = convert(normalised());
  EXPECT_EQ(operators(net), "Conv");
  EXPECT_EQ(written(net, 0), (std::vector<float>{3 * 2, 5 * -0.8f}));
  EXPECT_EQ(written(net, 1), (std::vector<float>{1 * 2 + 8, 17.6f}));
}

TEST(BatchNormalization, WithoutBiasAndWithScale) {
  builder b;
  b.input("x", {1, 1, 2, 2}).output("y").floats("w", {2, 1, 1, 2}, {1, 2, 3, 4});
  // a = scale / √(var + ε) = (2, 3)
  b.floats("scale", {2}, {4, 9}).floats("shift", {2}, {1, 1}).floats("mean", {2}, {0, 2}).floats("var", {2}, {1, 6});
  b.node("Conv", {"x", "w"}, {"c"});
  set(b.node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"y"}), "epsilon", 3.0f);
  const auto net = convert(b);
  EXPECT_EQ(written(net, 0), (std::vector<float>{2, 4, 9, 12}));
  EXPECT_EQ(written(net, 1), (std::vector<float>{1, -5}));
}

TEST(BatchNormalization, StaysWhereTheConvolutionIsReadElsewhere) {
  builder b = normalised();
  b.output("c");
  EXPECT_EQ(operators(convert(b)), "Conv BatchNormalization");
  builder c = normalised();
  c.output("z");
  c.node("Relu", {"c"}, {"z"});
  EXPECT_EQ(operators(convert(c)), "Conv BatchNormalization Relu");
  EXPECT_EQ(operators(convert(normalised(), {.fold = false})), "Conv BatchNormalization");
  EXPECT_EQ(operators(convert(normalised(), {.outputs = {"c"}})), "Conv");
}

TEST(BatchNormalization, ReadingTheShapeOfTheConvolutionIsNoReading) {
  builder b = normalised();
  b.graph().mutable_output(0)->set_name("z");
  b.node("Relu", {"c"}, {"r"});
  b.node("Shape", {"r"}, {"s"});
  b.node("Reshape", {"y", "s"}, {"z"});
  EXPECT_EQ(operators(convert(b)), "Conv Reshape");
}

TEST(BatchNormalization, OfAWeightThatTwoConvolutionsShare) {
  builder b = normalised();
  b.output("z");
  b.node("Conv", {"x", "w"}, {"z"}, "plain");
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Conv Conv");
  const auto layout = onnx2hpp::lay_out_weights(net);
  EXPECT_EQ(layout.tensors.size(), 3u);
  EXPECT_NE(layout.offsets[1][0], layout.offsets[2][0]);
}

TEST(BatchNormalization, InTrainingIsRefused) {
  builder b(13);
  b.input("x", {1, 2}).output("y").weights("p", {2});
  b.node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y", "mean"}, "bn");
  EXPECT_NE(problems(b).find("training outputs"), std::string::npos);
  b.model.mutable_opset_import(0)->set_version(14);
  EXPECT_EQ(operators(convert(b)), "BatchNormalization");
  set(*b.graph().mutable_node(0), "training_mode", 1);
  EXPECT_NE(problems(b).find("statistics of the batch"), std::string::npos);
}

TEST(BatchNormalization, AloneAndTwice) {
  builder b = normalised();
  b.graph().mutable_node(0)->set_op_type("Relu");
  b.graph().mutable_node(0)->mutable_input()->Clear();
  b.graph().mutable_node(0)->add_input("x");
  EXPECT_NE(problems(b).find("do not have one element for each channel"), std::string::npos);
  builder c = normalised();
  c.graph().mutable_output(0)->set_name("z");
  set(c.node("BatchNormalization", {"y", "scale", "shift", "mean", "var"}, {"z"}), "epsilon", 0.0f);
  // (2, -0.8) x + (8, 19.2), and then (3, -2) / √(2, 6) (x - (1, -1)) + (10, 20)
  const auto net = convert(c);
  EXPECT_EQ(operators(net), "Conv");
  const double a[] = {3 / std::sqrt(2.0), -2 / std::sqrt(6.0)};
  EXPECT_FLOAT_EQ(written(net, 0)[0], static_cast<float>(3 * 2 * a[0]));
  EXPECT_FLOAT_EQ(written(net, 0)[1], static_cast<float>(5 * -0.8 * a[1]));
  EXPECT_FLOAT_EQ(written(net, 1)[0], static_cast<float>((1 * 2 + 8 - 1) * a[0] + 10));
  EXPECT_FLOAT_EQ(written(net, 1)[1], static_cast<float>((2 * -0.8 + 19.2 + 1) * a[1] + 20));
}

TEST(Dropout, VanishesUnlessKept) {
  builder b(12);
  b.input("x", {1, 2}).output("y").scalar("ratio", 0.5f);
  b.node("Dropout", {"x", "ratio"}, {"d", "mask"});
  b.node("Identity", {"d"}, {"i"});
  b.node("Relu", {"i"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu");
  EXPECT_EQ(operators(convert(b, {.fold = false})), "Dropout Identity Relu");
  builder c(13);
  c.input("x", {1, 2}).output("y").scalar("ratio", 0.5f);
  auto& t = c.tensor("training", onnx::TensorProto::BOOL, {});
  t.set_raw_data("\1", 1);
  c.node("Dropout", {"x", "ratio", "training"}, {"y"});
  EXPECT_NE(problems(c).find("training_mode"), std::string::npos);
}

TEST(Constants, ShapeArithmeticOfTheOldExporter) {
  builder b(13);
  b.symbolic_input("x", {"batch", "4", "3", "3"}).output("y");
  b.node("Shape", {"x"}, {"s"});
  auto& zero = b.node("Constant", {}, {"zero"});
  auto* a = zero.add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(onnx::TensorProto::INT64);
  a->mutable_t()->add_int64_data(0);
  b.node("Gather", {"s", "zero"}, {"n"});
  b.ints("axes", {0}).ints("rest", {-1});
  b.node("Unsqueeze", {"n", "axes"}, {"n1"});
  set(b.node("Concat", {"n1", "rest"}, {"to"}), "axis", 0);
  b.node("Reshape", {"x", "to"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Reshape");
  EXPECT_EQ(net.layers.back().result, (shape{1, 36}));
  EXPECT_EQ(convert(b, {.dimensions = {{"batch", 5}}}).layers.back().result, (shape{5, 36}));
}

TEST(Constants, IntegersAreExact) {
  EXPECT_EQ(folded({2},
                   [](builder& b) {
                     b.ints("a", {-7, 7}).ints("b", {2, -2});
                     b.node("Div", {"a", "b"}, {"c"});
                   }),
            (floats{-3, -3}));
  EXPECT_EQ(folded({2},
                   [](builder& b) {
                     b.ints("a", {-7, 7}).ints("b", {3, -3});
                     b.node("Mod", {"a", "b"}, {"c"});
                   }),
            (floats{2, -2}));
  EXPECT_EQ(folded({3},
                   [](builder& b) {
                     b.ints("s", {1}).ints("l", {6}).ints("d", {2});
                     b.node("Range", {"s", "l", "d"}, {"c"});
                   }),
            (floats{1, 3, 5}));
  EXPECT_EQ(folded({2},
                   [](builder& b) {
                     // 2^53 + 1 is not representable as a double.
                     b.ints("a", {(1ll << 53) + 1, 4}).ints("b", {1ll << 53, 1});
                     b.node("Sub", {"a", "b"}, {"c"});
                   }),
            (floats{1, 3}));
}

TEST(Constants, IntegersAreClippedExactly) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(folded({2},
                   [](builder& b) {
                     b.ints("a", {1, most}).ints("lo", {2}).ints("hi", {most - 1}).ints("back", {most - 3});
                     b.node("Clip", {"a", "lo", "hi"}, {"k"});
                     b.node("Sub", {"k", "back"}, {"d"});
                     b.node("Mod", {"d", "hundred"}, {"c"});
                     b.ints("hundred", {100});
                   }),
            (floats{98, 2}));  // 2 - (2^63 - 4) = 6 - 2^63, which is 98 modulo 100
}

TEST(Constants, Rearrangements) {
  const auto matrix = [](builder& b) { b.floats("m", {2, 3}, {1, 2, 3, 4, 5, 6}); };
  EXPECT_EQ(folded({3, 2},
                   [&](builder& b) {
                     matrix(b);
                     b.node("Transpose", {"m"}, {"c"});
                   }),
            (floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(folded({2, 1},
                   [&](builder& b) {
                     matrix(b);
                     b.ints("s", {-1}).ints("e", {-9}).ints("a", {1}).ints("t", {-4});
                     b.node("Slice", {"m", "s", "e", "a", "t"}, {"c"});
                   }),
            (floats{3, 6}));
  EXPECT_EQ(folded({2, 2},
                   [&](builder& b) {
                     matrix(b);
                     b.ints("i", {2, -3});
                     set(b.node("Gather", {"m", "i"}, {"c"}), "axis", 1);
                   }),
            (floats{3, 1, 6, 4}));
  EXPECT_EQ(folded({2, 3},
                   [&](builder& b) {
                     b.floats("v", {3}, {1, 2, 3}).ints("to", {2, 1});
                     b.node("Expand", {"v", "to"}, {"c"});
                   }),
            (floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(folded({2, 4},
                   [&](builder& b) {
                     b.floats("v", {2, 2}, {1, 2, 3, 4});
                     set(b.node("Concat", {"v", "v"}, {"c"}), "axis", -1);
                   }),
            (floats{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(folded({2, 1},
                   [&](builder& b) {
                     matrix(b);
                     b.ints("parts", {2, 1});
                     set(b.node("Split", {"m", "parts"}, {"first", "c"}), "axis", 1);
                   }),
            (floats{3, 6}));
}

TEST(Constants, ChoiceAndReduction) {
  EXPECT_EQ(folded({3},
                   [](builder& b) {
                     b.ints("a", {1, 2, 3}).ints("b", {3}).ints("z", {0});
                     b.node("Equal", {"a", "b"}, {"e"});
                     b.node("Where", {"e", "z", "a"}, {"c"});
                   }),
            (floats{1, 2, 0}));
  EXPECT_EQ(folded({1, 2},
                   [](builder& b) {
                     b.floats("m", {2, 2}, {1, 2, 3, 4}).ints("axes", {0});
                     b.node("ReduceSum", {"m", "axes"}, {"c"});
                   }),
            (floats{4, 6}));
  EXPECT_EQ(folded({2},
                   [](builder& b) {
                     b.ints("to", {2});
                     b.node("ConstantOfShape", {"to"}, {"c"});
                   }),
            (floats{0, 0}));
}

TEST(Constants, DefaultsOfAttributesAreThoseOfOnnx) {
  const auto from = [](std::vector<std::int64_t> result, const char* op, std::vector<std::string> inputs,
                       std::vector<std::string> outputs = {"c"}) {
    return folded(result, [&](builder& b) {
      b.floats("m", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("n", {2, 3, 1}, {1, 2, 3, 4, 5, 6});
      b.ints("one", {1}).ints("two", {2}).ints("minus", {-7}).ints("three", {3});
      b.node(op, inputs, outputs);
    });
  };
  EXPECT_EQ(from({3, 2}, "Transpose", {"m"}), (floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(from({2, 3}, "Flatten", {"n"}), (floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(from({2, 3}, "Squeeze", {"n"}), (floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(from({1, 3}, "Gather", {"m", "one"}), (floats{4, 5, 6}));
  EXPECT_EQ(from({3}, "GatherND", {"m", "one"}), (floats{4, 5, 6}));
  EXPECT_EQ(from({1, 3}, "Split", {"m"}, {"first", "c"}), (floats{4, 5, 6}));
  EXPECT_EQ(from({1, 1}, "ReduceMax", {"m"}), (floats{6}));
  EXPECT_EQ(from({3}, "Shape", {"n"}), (floats{2, 3, 1}));
  EXPECT_EQ(from({2}, "ConstantOfShape", {"two"}), (floats{0, 0}));
  EXPECT_EQ(from({1}, "Mod", {"minus", "three"}), (floats{2}));  // with the divisor's sign
}

TEST(Constants, Functions) {
  const auto of = [](const char* op) {
    return folded({1}, [&](builder& b) {
      b.floats("a", {1}, {0.5f});
      b.node(op, {"a"}, {"c"});
    })[0];
  };
  EXPECT_FLOAT_EQ(of("Sin"), std::sin(0.5f));
  EXPECT_FLOAT_EQ(of("Cos"), std::cos(0.5f));
  EXPECT_FLOAT_EQ(of("Tan"), std::tan(0.5f));
  EXPECT_FLOAT_EQ(of("Asin"), std::asin(0.5f));
  EXPECT_FLOAT_EQ(of("Acos"), std::acos(0.5f));
  EXPECT_FLOAT_EQ(of("Atan"), std::atan(0.5f));
  EXPECT_FLOAT_EQ(of("Sinh"), std::sinh(0.5f));
  EXPECT_FLOAT_EQ(of("Cosh"), std::cosh(0.5f));
}

TEST(Constants, ScatterND) {
  const auto model = [](std::vector<std::int64_t> indices, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> update_dims, std::vector<float> updates, const char* how = "none") {
    builder b(18);
    b.input("x", {2, 3}).output("y").floats("m", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("u", update_dims, updates);
    b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(indices.data(), indices.size() * 8);
    set(b.node("ScatterND", {"m", "i", "u"}, {"c"}), "reduction", how);
    b.node("Add", {"x", "c"}, {"y"});
    return b;
  };
  EXPECT_EQ(written(convert(model({1}, {1, 1}, {1, 3}, {7, 8, 9}))), (floats{1, 2, 3, 7, 8, 9}));              // a row
  EXPECT_EQ(written(convert(model({0, 2, -1, -3}, {2, 2}, {2}, {7, 8}))), (floats{1, 2, 7, 8, 5, 6}));         // elements
  EXPECT_EQ(written(convert(model({0, 0}, {2, 1}, {2, 3}, {7, 7, 7, 8, 8, 9}))), (floats{8, 8, 9, 4, 5, 6}));  // the last
  EXPECT_NE(problems(model({2}, {1, 1}, {1, 3}, {7, 8, 9})).find("its index 2 is out of range"), std::string::npos);
  EXPECT_NE(problems(model({-3}, {1, 1}, {1, 3}, {7, 8, 9})).find("its index -3 is out of range"), std::string::npos);
  EXPECT_NE(problems(model({1}, {1, 1}, {3}, {7, 8, 9})).find("its updates do not fit its indices"), std::string::npos);
  EXPECT_NE(problems(model({1}, {1, 1}, {1, 3}, {7, 8, 9}, "add")).find("its reduction is \"add\""), std::string::npos);
}

TEST(Constants, IntegersAreMovedAndSummedExactly) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  // Less the large number, which float32 could not tell from its neighbours.
  const auto of = [&](const char* op, std::vector<std::string> inputs, int axis, std::vector<std::int64_t> less) {
    return folded({2, 2}, [&](builder& b) {
      const std::int64_t numbers[]{large + 1, large + 2, large + 3, large + 4}, other[]{7, 8, 9, 10};
      b.tensor("m", onnx::TensorProto::INT64, {2, 2}).set_raw_data(numbers, sizeof numbers);
      b.tensor("u", onnx::TensorProto::INT64, {2, 2}).set_raw_data(other, sizeof other);
      const std::int64_t at[]{1, 0, 0, -1};
      b.tensor("i", onnx::TensorProto::INT64, {2, 2}).set_raw_data(at, sizeof at);
      b.tensor("less", onnx::TensorProto::INT64, {2, 2}).set_raw_data(less.data(), 32);
      b.ints("axis", {axis});
      auto& n = b.node(op, inputs, {"o"});
      if (std::string(op) != "CumSum") set(n, "axis", axis);
      b.node("Sub", {"o", "less"}, {"c"});
    });
  };
  EXPECT_EQ(of("GatherElements", {"m", "i"}, 0, {large, large, large, large}), (floats{3, 2, 1, 4}));
  EXPECT_EQ(of("GatherElements", {"m", "i"}, 1, {large, large, large, large}), (floats{2, 1, 3, 4}));
  EXPECT_EQ(of("ScatterElements", {"m", "i", "u"}, 0, {0, 0, 0, 0}), (floats{9, 8, 7, 10}));
  EXPECT_EQ(of("ScatterElements", {"m", "i", "u"}, 1, {0, 0, 0, 0}), (floats{8, 7, 9, 10}));
  EXPECT_EQ(of("CumSum", {"m", "axis"}, 0, {large, large, 2 * large, 2 * large}), (floats{1, 2, 4, 6}));
  EXPECT_EQ(of("CumSum", {"m", "axis"}, 1, {large, 2 * large, large, 2 * large}), (floats{1, 3, 3, 7}));
}

TEST(Constants, CumSum) {
  const auto sums = [](int exclusive, int reverse) {
    return folded({4}, [&](builder& b) {
      b.floats("m", {4}, {1, 2, 3, 4.5f}).ints("axis", {-1});
      auto& n = b.node("CumSum", {"m", "axis"}, {"c"});
      set(n, "exclusive", exclusive);
      set(n, "reverse", reverse);
    });
  };
  EXPECT_EQ(sums(0, 0), (floats{1, 3, 6, 10.5f}));
  EXPECT_EQ(sums(1, 0), (floats{0, 1, 3, 6}));
  EXPECT_EQ(sums(0, 1), (floats{10.5f, 9.5f, 7.5f, 4.5f}));
  EXPECT_EQ(sums(1, 1), (floats{9.5f, 7.5f, 4.5f, 0}));
}

TEST(Constants, PadsOfIntegersByWrapAndRemoval) {
  const auto padded = [](const char* mode, std::vector<std::int64_t> pads, std::vector<std::int64_t> dims) {
    return folded(
        dims,
        [&](builder& b) {
          b.ints("m", {1, 2, 3}).ints("p", pads).ints("minus", {-1});
          b.graph().mutable_initializer(2)->clear_dims();
          set(b.node("Pad", {"m", "p", std::string(mode) == "constant" ? "minus" : ""}, {"c"}), "mode", mode);
        },
        19);
  };
  EXPECT_EQ(padded("wrap", {1, 2}, {6}), (floats{3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(padded("wrap", {1, -1}, {3}), (floats{2, 1, 2}));
  EXPECT_EQ(padded("edge", {-1, 1}, {3}), (floats{2, 3, 3}));
  EXPECT_EQ(padded("constant", {-1, 1}, {3}), (floats{2, 3, -1}));
}

TEST(Constants, RemaindersOfReals) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto mod = [](int truncated) {
    return folded({5}, [&](builder& b) {
      b.floats("a", {5}, {-7.5f, 7.5f, -7.5f, 6, -1}).floats("b", {5}, {2, -2, -2, -3, infinity});
      set(b.node("Mod", {"a", "b"}, {"c"}), "fmod", truncated);
    });
  };
  EXPECT_EQ(mod(1), (floats{-1.5f, 1.5f, -1.5f, 0, -1}));
  EXPECT_EQ(mod(0), (floats{0.5f, -0.5f, -1.5f, 0, infinity}));
  EXPECT_TRUE(std::signbit(mod(0)[3]));
}

TEST(Constants, WithoutElementsTakeNoTime) {
  // 2^39 empty rows.
  builder b;
  b.input("x", {2}).output("y").ints("none", {}).ints("one", {1});
  b.tensor("e", onnx::TensorProto::FLOAT, {1ll << 39, 0}).set_raw_data("");
  set(b.node("Concat", {"e", "e"}, {"a"}), "axis", 1);
  set(b.node("Gather", {"a", "none"}, {"g"}), "axis", 1);
  set(b.node("Split", {"g"}, {"s", "t"}), "axis", 1);
  b.node("Size", {"t"}, {"n"});
  set(b.node("Cast", {"n"}, {"f"}), "to", 1);
  b.node("Add", {"x", "f"}, {"y"});
  EXPECT_EQ(written(convert(b)), (floats{0}));
  builder c;
  c.input("x", {2}).output("y");
  c.tensor("e", onnx::TensorProto::FLOAT, {0, 1ll << 39, 1ll << 39}).set_raw_data("");
  c.node("Transpose", {"e"}, {"t"});
  c.node("Add", {"x", "t"}, {"y"});
  EXPECT_NE(problems(c).find("its shape is impossible"), std::string::npos);
}

TEST(Constants, UnknownOnesAndTooLargeOnesAreRefused) {
  builder b;
  b.input("x", {1, 2}).output("y").weights("a", {2});
  b.node("Hardmax", {"a"}, {"c"});
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(b).find("the operator is not supported; compute the model's constants first, with onnx-simplifier"),
            std::string::npos)
      << problems(b);
  // What follows from it is no further problem, although it is no constant.
  b.graph().mutable_node(1)->set_input(1, "e");
  b.node("Cos", {"c"}, {"d"});
  b.node("Trilu", {"d"}, {"e"});
  b.node("Reshape", {"x", "e"}, {"z"});
  b.graph().mutable_output(0)->set_name("z");
  const auto alone = problems(b);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), '\n'), 1) << alone;
  builder d;
  d.input("x", {1, 2}).output("y").ints("to", {1 << 20, 1 << 20});
  d.node("ConstantOfShape", {"to"}, {"c"});
  d.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(d).find("a constant of more than"), std::string::npos);
  builder e;
  e.input("x", {1, 2}).output("y").ints("to", {2, -3});
  e.node("ConstantOfShape", {"to"}, {"c"});
  e.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(e).find("it is a constant with the extent -3"), std::string::npos) << problems(e);
}

TEST(Constants, AllTogetherHaveALimit) {
  // Sixteen nodes that read 256 MiB each.
  builder b;
  b.input("x", {1}).output("y").ints("to", {1 << 26}).ints("never", {0});
  b.node("ConstantOfShape", {"to"}, {"c"});
  std::vector<std::string> none;
  for (int i = 0; i < 16; ++i) {
    none.push_back("none" + std::to_string(i));
    b.node("Tile", {"c", "never"}, {none.back()});
  }
  set(b.node("Concat", none, {"all"}), "axis", 0);
  b.node("Size", {"all"}, {"n"});
  set(b.node("Cast", {"n"}, {"f"}), "to", 1);
  b.node("Add", {"x", "f"}, {"y"});
  EXPECT_NE(problems(b).find("takes over 4 GiB"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
