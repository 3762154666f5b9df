// Numbers of constants that are computed: what lies beyond an axis, large integers, NaN, reals that become integers.
#include "folded.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace onnx2hpp_test {
namespace {

/// What is wrong with c, which the nodes of `make` compute.
template <class Make> std::string refused(Make make, int opset = 17) {
  builder b(opset);
  b.input("x", {1}).output("y");
  make(b);
  set(b.node("Cast", {"c"}, {"f"}), "to", 1);
  b.node("Add", {"x", "f"}, {"y"});
  return problems(b);
}

TEST(Constants, IndicesAndPartsBeyondTheAxisAreRefused) {
  const auto gather = [](std::int64_t index, std::int64_t axis) {
    return refused([=](builder& b) {
      b.floats("m", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("i", {index});
      set(b.node("Gather", {"m", "i"}, {"c"}), "axis", axis);
    });
  };
  for (const std::int64_t index : {-2, 1}) EXPECT_EQ(gather(index, 0), "");
  for (const std::int64_t index : {-3, 2}) EXPECT_EQ(gather(index, -1), "");
  for (const std::int64_t axis : {0, 1})
    for (const std::int64_t index : {axis + 2, -axis - 3})
      EXPECT_NE(gather(index, axis).find("its index " + std::to_string(index) + " is out of range"), std::string::npos);

  const auto split = [](std::vector<std::int64_t> sizes, int opset = 17) {
    return refused(
        [&](builder& b) {
          b.floats("m", {3, 1}, {1, 2, 3});
          auto& n = b.node("Split", {"m"}, {"first", "c"});
          if (!sizes.empty()) {
            b.ints("sizes", sizes);
            n.add_input("sizes");
          }
        },
        opset);
  };
  EXPECT_EQ(split({2, 1}), "");
  EXPECT_EQ(split({}, 18), "");
  EXPECT_NE(split({2, 2}).find("its parts are larger than its input"), std::string::npos);
  EXPECT_NE(split({4, -1}).find("its parts are larger than its input"), std::string::npos);
  EXPECT_NE(split({1, 1}).find("its parts are smaller than its input"), std::string::npos);
  EXPECT_NE(split({1, 1, 1}).find("it does not have as many parts as outputs"), std::string::npos);
  EXPECT_NE(split({}).find("its input cannot be divided evenly"), std::string::npos);  // only from opset 18 on
}

TEST(Constants, IntegersOf64BitsAreExact) {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;                // no double
  const auto less = [=](const char* op, std::vector<std::int64_t> values) {  // its result less `large`
    return folded({1}, [&](builder& b) {
      b.ints("v", values).ints("l", {large}).ints("axes", {0});
      auto& n = b.node(op, {"v"}, {"r"});
      if (op == std::string("ReduceSum")) n.add_input("axes");
      b.node("Sub", {"r", "l"}, {"c"});
    })[0];
  };
  EXPECT_EQ(less("ReduceSum", {large, 1, 1, -3}), -1);
  EXPECT_EQ(less("ReduceMax", {large, 1}), 0);
  EXPECT_EQ(less("ReduceMin", {large, large + 2}), 0);
  EXPECT_EQ(less("ReduceProd", {large, -1, -1}), 0);
  EXPECT_EQ(less("ReduceMean", {large, large + 2}), 1);
  // Integers wrap around, and their mean is rounded towards 0.
  EXPECT_EQ(folded({1},
                   [](builder& b) {
                     b.ints("v", {4, -1});
                     b.node("ReduceMean", {"v"}, {"c"});
                   }),
            (floats{1}));
  EXPECT_EQ(folded({1},
                   [](builder& b) {
                     b.ints("v", {-4, 1});
                     b.node("ReduceMean", {"v"}, {"c"});
                   }),
            (floats{-1}));
  EXPECT_EQ(folded({1},
                   [](builder& b) {
                     b.ints("v", {1ll << 32, 3});
                     b.node("ReduceSumSquare", {"v"}, {"c"});
                   }),
            (floats{9}));
}

TEST(Constants, RangesOfLargeIntegers) {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 3, least = std::numeric_limits<std::int64_t>::min();
  const auto of = [](std::int64_t start, std::int64_t limit, std::int64_t delta, std::int64_t less, std::int64_t count) {
    return folded({count}, [&](builder& b) {
      b.ints("s", {start}).ints("l", {limit}).ints("d", {delta}).ints("less", {less});
      b.node("Range", {"s", "l", "d"}, {"r"});
      b.node("Sub", {"r", "less"}, {"c"});
    });
  };
  EXPECT_EQ(of(-large, 1 - large, 1, -large, 1), (floats{0}));  // -large is no double
  EXPECT_EQ(of(large, large - 5, -2, large, 3), (floats{0, -2, -4}));
  EXPECT_EQ(of(least, -(least + 1), -(least + 2), least, 3), (floats{0, 0x1p63f, -4}));
  const auto refusal = [](std::int64_t limit, std::int64_t delta) {
    return refused([&](builder& b) {
      b.ints("s", {1}).ints("l", {limit}).ints("d", {delta}).node("Range", {"s", "l", "d"}, {"c"});
    });
  };
  EXPECT_NE(refusal(5, 0).find("its delta is 0"), std::string::npos);
  EXPECT_NE(refusal(-5, 0).find("its delta is 0"), std::string::npos);
  EXPECT_NE(refusal(1 << 27, 1).find("it is a constant of more than 67108864 elements"), std::string::npos);
}

/// ONNX: of no numbers the least, or the largest, that the type has.
TEST(Constants, LargestAndSmallestOfNoNumbers) {
  using types = onnx::TensorProto;
  const auto of = [](const char* op, int type, std::vector<std::int64_t> dims = {2, 0}) {
    const auto y = folded(
        {2},
        [&](builder& b) {
          b.tensor("v", type, dims);
          b.ints("axes", {dims[0] == 0 ? 0 : 1});
          set(b.node(op, {"v", "axes"}, {"c"}), "keepdims", 0);
        },
        20);
    EXPECT_EQ(y[0], y[1]);
    return y[0];
  };
  EXPECT_EQ(of("ReduceMax", types::INT8), -128);
  EXPECT_EQ(of("ReduceMin", types::INT8), 127);
  EXPECT_EQ(of("ReduceMax", types::UINT8), 0);
  EXPECT_EQ(of("ReduceMin", types::UINT8), 255);
  EXPECT_EQ(of("ReduceMax", types::INT32), -0x1p31f);
  EXPECT_EQ(of("ReduceMin", types::INT32), 0x1p31f);
  EXPECT_EQ(of("ReduceMax", types::INT64), -0x1p63f);
  EXPECT_EQ(of("ReduceMin", types::INT64, {0, 2}), 0x1p63f);
  EXPECT_EQ(of("ReduceMax", types::UINT64), 0);
  EXPECT_EQ(of("ReduceMin", types::UINT64), 0x1p64f);
  EXPECT_EQ(of("ReduceMax", types::BOOL), 0);
  EXPECT_EQ(of("ReduceMin", types::BOOL), 1);
  EXPECT_EQ(of("ReduceMax", types::FLOAT), -HUGE_VALF);
  EXPECT_EQ(of("ReduceMin", types::FLOAT), HUGE_VALF);
  EXPECT_EQ(of("ReduceSum", types::INT32), 0);
  EXPECT_EQ(of("ReduceProd", types::INT32), 1);
  EXPECT_EQ(folded({1},
                   [](builder& b) {
                     const std::uint64_t numbers[] = {std::uint64_t{1} << 62, 7};
                     b.tensor("v", types::UINT64, {2}).set_raw_data(numbers, sizeof numbers);
                     b.node("ReduceMin", {"v"}, {"c"});
                   }),
            (floats{7}));
}

TEST(Constants, ReluOfIntegers) {
  EXPECT_EQ(folded({3},
                   [](builder& b) {
                     b.ints("v", {-2, 0, 3});
                     b.node("Relu", {"v"}, {"c"});
                   }),
            (floats{0, 0, 3}));
}

TEST(Constants, UnsignedIntegersBeyondInt64) {
  const auto with = [](builder& b) {
    const std::uint64_t numbers[] = {std::uint64_t{1} << 63, 1};
    b.tensor("u", onnx::TensorProto::UINT64, {2}).set_raw_data(numbers, sizeof numbers);
  };
  EXPECT_EQ(folded({2},
                   [&](builder& b) {
                     with(b);
                     b.node("Identity", {"u"}, {"c"});
                   }),
            (floats{0x1p63f, 1}));
  for (const char* op : {"Less", "GreaterOrEqual", "Max", "Min", "Div", "Mod"})
    EXPECT_NE(refused([&](builder& b) {
                with(b);
                b.node(op, {"u", "u"}, {"c"});
              }).find("its constant has integers of 2^63 and more"),
              std::string::npos)
        << op;
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceMean", "Clip"})
    EXPECT_NE(refused([&](builder& b) {
                with(b);
                b.node(op, {"u"}, {"c"});
              }).find("its constant has integers of 2^63 and more"),
              std::string::npos)
        << op;
}

TEST(Constants, RealsBecomeTheNearestIntegers) {
  const auto cast = [](int type) {
    return folded({5}, [&](builder& b) {
      b.floats("r", {5}, {-1e30f, -2.75f, 3.5f, 1e30f, std::nanf("")});
      set(b.node("Cast", {"r"}, {"c"}), "to", type);
    });
  };
  EXPECT_EQ(cast(onnx::TensorProto::INT8), (floats{-128, -2, 3, 127, 0}));
  EXPECT_EQ(cast(onnx::TensorProto::UINT8), (floats{0, 0, 3, 255, 0}));  // as activations: docs/onnx2hpp.md
  EXPECT_EQ(cast(onnx::TensorProto::INT32), (floats{-0x1p31f, -2, 3, 0x1p31f, 0}));
  EXPECT_EQ(cast(onnx::TensorProto::INT64), (floats{-0x1p63f, -2, 3, 0x1p63f, 0}));
}

TEST(Constants, NanStaysInMaxAndMin) {
  const auto of = [](const char* op, std::vector<std::string> inputs, std::vector<std::int64_t> result) {
    const auto y = folded(result, [&](builder& b) {
      b.floats("a", {2}, {1, std::nanf("")}).floats("b", {2}, {2, 3});
      b.node(op, inputs, {"c"});
    });
    return std::count_if(y.begin(), y.end(), [](float v) { return std::isnan(v); });
  };
  for (const char* op : {"Max", "Min"}) {
    EXPECT_EQ(of(op, {"a", "b"}, {2}), 1);
    EXPECT_EQ(of(op, {"b", "a"}, {2}), 1);
  }
  for (const char* op : {"ReduceMax", "ReduceMin"}) EXPECT_EQ(of(op, {"a"}, {1}), 1);
}

}  // namespace
}  // namespace onnx2hpp_test
