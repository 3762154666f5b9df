// Constants that only layers can compute.
#include "folded.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace onnx2hpp_test {
namespace {

TEST(ByKernels, ConstantsAreComputed) {
  const auto matrix = [](builder& b) { b.floats("m", {2, 2}, {1, 2, 3, 4}); };
  EXPECT_EQ(folded({2, 2},
                   [&](builder& b) {
                     matrix(b);
                     b.node("Trilu", {"m"}, {"c"});
                   }),
            (floats{1, 2, 0, 4}));
  EXPECT_EQ(folded({2, 2},
                   [&](builder& b) {
                     matrix(b);
                     b.node("MatMul", {"m", "m"}, {"c"});
                   }),
            (floats{7, 10, 15, 22}));
  EXPECT_EQ(folded({1, 1, 1, 1},
                   [](builder& b) {
                     b.floats("a", {1, 1, 1, 2}, {3, 4}).floats("w", {1, 1, 1, 2}, {5, 6}).floats("bias", {1}, {7});
                     b.node("Conv", {"a", "w", "bias"}, {"c"});
                   }),
            (floats{3 * 5 + 4 * 6 + 7}));
  EXPECT_EQ(folded({1, 4},
                   [&](builder& b) {
                     matrix(b);
                     b.node("SequenceConstruct", {"m", "m"}, {"s"});
                     set(b.node("ConcatFromSequence", {"s"}, {"w"}), "axis", 1);
                     b.ints("zero", {0});
                     b.node("Gather", {"w", "zero"}, {"c"});
                   }),
            (floats{1, 2, 1, 2}));
  EXPECT_EQ(folded({65, 1, 1},
                   [](builder& b) {
                     b.floats("a", {65, 1, 1}, floats(65, 2)).floats("b", {65, 1, 1}, floats(65, 3));
                     b.node("MatMul", {"a", "b"}, {"c"});
                   }),
            floats(65, 6));
}

TEST(ByKernels, ResultsKeepTheirTypes) {
  const auto with = [](int type, const std::string& bytes, const std::string& op, const std::string& then) {
    return folded({2}, [&](builder& b) {
      b.tensor("a", type, {2, 2}).set_raw_data(bytes);
      b.tensor("i", onnx::TensorProto::INT64, {2}).set_raw_data(std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
      b.ints("axes", {0}).ints("zero", {0});
      b.node(op, {"a"}, {"t"});
      b.node("Gather", {"t", "zero"}, {"row"});
      b.node("Squeeze", {"row", "axes"}, {"r"});
      then == "Not" ? b.node(then, {"r"}, {"c"}) : b.node(then, {"r", then == "Add" && op == "ArgMax" ? "i" : "r"}, {"c"});
    });
  };
  const double numbers[] = {1, 2, 4, 3};
  const std::string doubles(reinterpret_cast<const char*>(numbers), sizeof numbers);
  EXPECT_EQ(with(onnx::TensorProto::DOUBLE, doubles, "ArgMax", "Add"), (floats{2, 3}));  // {1, 1} + {1, 2}, as int64
  EXPECT_EQ(with(onnx::TensorProto::DOUBLE, doubles, "Erf", "Sub"), (floats{0, 0}));
  EXPECT_EQ(with(onnx::TensorProto::BOOL, std::string("\1\1\1\1", 4), "Trilu", "Not"), (floats{0, 0}));
  EXPECT_EQ(with(onnx::TensorProto::DOUBLE, doubles, "IsNaN", "Not"), (floats{1, 1}));
  // The sum of doubles needs two of them.
  EXPECT_EQ(folded({1},
                   [&](builder& b) {
                     b.tensor("a", onnx::TensorProto::DOUBLE, {1, 4}).set_raw_data(doubles);
                     b.tensor("b", onnx::TensorProto::DOUBLE, {4, 1}).set_raw_data(doubles);
                     b.node("MatMul", {"a", "b"}, {"p"});
                     b.node("Add", {"p", "b"}, {"s"});
                     b.ints("zero", {0});
                     b.node("Gather", {"s", "zero"}, {"t"});
                     b.node("Flatten", {"t"}, {"c"});
                   }),
            (floats{31}));
}

TEST(ByKernels, WorkIsLimited) {
  const auto refused = [](std::vector<std::int64_t> dims, const std::string& op, bool twice, int kernel = 0) {
    builder b;
    b.input("x", {1}).output("y").ints("to", dims);
    b.node("ConstantOfShape", {"to"}, {"a"});
    auto& n = b.node(op, {"a"}, {"c"});
    if (twice) n.add_input("a");
    if (kernel > 0) set(n, "kernel_shape", {kernel, kernel});
    b.node("Add", {"x", "c"}, {"y"});
    return problems(b);
  };
  constexpr const char* too_many = "with it, computing the model's constants takes over 10^9 multiplications; compute the";
  EXPECT_NE(refused({1024, 1024}, "MatMul", true).find(too_many), std::string::npos);
  EXPECT_NE(refused({1, 1, 1024, 1024}, "MaxPool", false, 512).find(too_many), std::string::npos);
  EXPECT_NE(refused({2, 0}, "Erf", false).find("its constant has no elements"), std::string::npos);
  EXPECT_NE(refused({1, 1, 1, 1, 1, 1, 1, 1, 1}, "Erf", false).find("its constant has more than 8 axes"), std::string::npos);
  EXPECT_NE(refused({1 << 13, 1 << 13}, "Erf", false).find("tensors of more than 2^26 elements"), std::string::npos);
  builder b;
  b.input("x", {1}).output("y").ints("many", {(1 << 24) + 1}).ints("axes", {0});
  b.node("Unsqueeze", {"many", "axes"}, {"m"});
  b.node("Trilu", {"m"}, {"c"});
  b.node("Add", {"x", "c"}, {"y"});
  EXPECT_NE(problems(b).find("its constant has integers beyond 2^24"), std::string::npos) << problems(b);
}

TEST(ByKernels, IntegersThatFloat32Holds) {
  const auto of = [](std::int64_t number) {
    builder b;
    b.input("x", {1, 1}).output("y").tensor("i", onnx::TensorProto::INT64, {1, 1}).add_int64_data(number);
    b.node("Trilu", {"i"}, {"t"});
    set(b.node("Cast", {"t"}, {"c"}), "to", 1);
    b.node("Add", {"x", "c"}, {"y"});
    return b;
  };
  for (const std::int64_t sign : {-1, 1}) {
    EXPECT_EQ(written(convert(of(sign * (1 << 24)))), (floats{static_cast<float>(sign) * 0x1p24f}));
    EXPECT_NE(problems(of(sign * ((1 << 24) + 1))).find("its constant has integers beyond 2^24"), std::string::npos) << sign;
  }
}

}  // namespace
}  // namespace onnx2hpp_test
