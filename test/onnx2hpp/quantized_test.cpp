// Quantised constants: DequantizeLinear and QuantizeLinear. Expected values are calculated by hand from ONNX's formulas.
#include "folded.hpp"

#include "dice/graph/ops.hpp"

#include <functional>
#include <initializer_list>

namespace onnx2hpp_test {
namespace {

using ints = std::vector<std::int64_t>;
constexpr int int4 = 22, uint4 = 21, uint2 = 25, int2 = 26;  // newer than libonnx 1.12

/// A tensor of raw elements of type T.
template <class T>
void raw_tensor(builder& b, const std::string& name, int type, const ints& extents, const std::vector<T>& values) {
  b.tensor(name, type, extents).set_raw_data(values.data(), values.size() * sizeof(T));
}

/// DequantizeLinear of "q" by "s" and "z" (if it has one) at an opset, with attributes.
struct dequantised {
  ints extents;
  std::function<void(builder&)> tensors;
  int opset = 13;
  std::initializer_list<std::pair<const char*, int>> attributes = {};
  bool zero = true;

  floats operator()() const {
    return folded(
        extents,
        [&](builder& b) {
          tensors(b);
          auto& n = b.node("DequantizeLinear",
                           zero ? std::vector<std::string>{"q", "s", "z"} : std::vector<std::string>{"q", "s"}, {"c"});
          for (const auto& [name, value] : attributes) set(n, name, value);
        },
        opset);
  }
};

template <class T> floats by_one_scale(int type, int opset, const std::vector<T>& q, T zero) {
  return dequantised{{static_cast<std::int64_t>(q.size())},
                     [&](builder& b) {
                       raw_tensor(b, "q", type, {static_cast<std::int64_t>(q.size())}, q);
                       b.scalar("s", 0.5f);
                       raw_tensor<T>(b, "z", type, {}, {zero});
                     },
                     opset}();
}

TEST(Quantized, ByOneScale) {
  for (const int opset : {10, 13, 19, 21, 23, 28}) {
    EXPECT_EQ((by_one_scale<std::int8_t>(onnx::TensorProto::INT8, opset, {-128, -1, 0, 127}, -1)),
              (floats{-63.5f, 0, 0.5f, 64}));
    EXPECT_EQ((by_one_scale<std::uint8_t>(onnx::TensorProto::UINT8, opset, {0, 120, 255}, 120)), (floats{-60, 0, 67.5f}));
  }
  EXPECT_EQ((by_one_scale<std::int16_t>(onnx::TensorProto::INT16, 21, {-32768, 32767}, 1)), (floats{-16384.5f, 16383}));
  EXPECT_EQ((by_one_scale<std::uint16_t>(onnx::TensorProto::UINT16, 21, {0, 65535}, 65535)), (floats{-32767.5f, 0}));
  // 2^24 + 1 becomes 2^24 in float32; ONNX Runtime also converts before it multiplies.
  EXPECT_EQ((by_one_scale<std::int32_t>(onnx::TensorProto::INT32, 13, {-7, (1 << 24) + 1}, 0)), (floats{-3.5f, 8388608}));
}

TEST(Quantized, WithoutAZeroPoint) {
  const auto tensors = [](builder& b) {
    raw_tensor<std::int32_t>(b, "q", onnx::TensorProto::INT32, {2}, {-3, 9});
    b.floats("s", {1}, {0.25f});  // one element with an axis of its own
  };
  EXPECT_EQ((dequantised{{2}, tensors, 10, {}, false}()), (floats{-0.75f, 2.25f}));
}

/// The first of several elements in a byte has the lowest bits; the last byte may be half empty.
TEST(Quantized, OfFewBits) {
  const auto of = [](int type, std::int64_t count, const std::vector<std::uint8_t>& packed, bool listed) {
    return dequantised{{count},
                       [&](builder& b) {
                         auto& q = b.tensor("q", type, {count});
                         if (listed)
                           for (const auto byte : packed) q.add_int32_data(byte);
                         else q.set_raw_data(packed.data(), packed.size());
                         b.scalar("s", 2);
                       },
                       25,
                       {},
                       false}();
  };
  for (const bool listed : {false, true}) {
    EXPECT_EQ(of(int4, 5, {0x87, 0x1f, 0x0e}, listed), (floats{14, -16, -2, 2, -4}));
    EXPECT_EQ(of(uint4, 3, {0x8f, 0x01}, listed), (floats{30, 16, 2}));
    EXPECT_EQ(of(int2, 5, {0b11100100, 0b10}, listed), (floats{0, 2, -4, -2, -4}));
    EXPECT_EQ(of(uint2, 4, {0b11100100}, listed), (floats{0, 2, 4, 6}));
  }
}

TEST(Quantized, ByAxis) {
  const auto along = [](int axis, const ints& extents, const floats& scales, const std::vector<std::int8_t>& zeros) {
    return dequantised{extents,
                       [&](builder& b) {
                         std::vector<std::int8_t> q;
                         for (int k = 0; k < extents[0] * extents[1] * extents[2]; ++k)
                           q.push_back(static_cast<std::int8_t>(k));
                         raw_tensor(b, "q", onnx::TensorProto::INT8, extents, q);
                         b.floats("s", {static_cast<std::int64_t>(scales.size())}, scales);
                         raw_tensor(b, "z", onnx::TensorProto::INT8, {static_cast<std::int64_t>(zeros.size())}, zeros);
                       },
                       13,
                       {{"axis", axis}}}();
  };
  const floats first{0, 1, 2, 3, 40, 50, 60, 70}, middle{0, 1, 20, 30, 4, 5, 60, 70}, last{0, 10, 2, 30, 4, 50, 6, 70};
  EXPECT_EQ(along(0, {2, 2, 2}, {1, 10}, {0, 0}), first);
  EXPECT_EQ(along(-3, {2, 2, 2}, {1, 10}, {0, 0}), first);
  EXPECT_EQ(along(1, {2, 2, 2}, {1, 10}, {0, 0}), middle);
  EXPECT_EQ(along(-1, {2, 2, 2}, {1, 10}, {0, 0}), last);
  EXPECT_EQ(along(2, {1, 2, 3}, {1, 10, 100}, {0, 1, 4}), (floats{0, 0, -200, 3, 30, 100}));
  const auto by_default = dequantised{{1, 2},
                                      [](builder& b) {
                                        raw_tensor<std::int8_t>(b, "q", onnx::TensorProto::INT8, {1, 2}, {3, 4});
                                        b.floats("s", {2}, {1, 10});
                                      },
                                      13,
                                      {},
                                      false}();
  EXPECT_EQ(by_default, (floats{3, 40})) << "axis 1";
}

TEST(Quantized, ByBlocks) {
  const auto along = [](int axis, const ints& scales, const floats& s) {
    return dequantised{{2, 5},
                       [&](builder& b) {
                         raw_tensor<std::uint8_t>(b, "q", onnx::TensorProto::UINT8, {2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
                         b.floats("s", scales, s);
                         raw_tensor(b, "z", onnx::TensorProto::UINT8, scales, std::vector<std::uint8_t>(s.size(), 1));
                       },
                       21,
                       {{"axis", axis}, {"block_size", 2}}}();
  };
  EXPECT_EQ(along(1, {2, 3}, {1, 10, 100, 2, 20, 200}), (floats{0, 1, 20, 30, 400, 10, 12, 140, 160, 1800}));
  EXPECT_EQ(along(-2, {1, 5}, {1, 10, 100, 1, 1}), (floats{0, 10, 200, 3, 4, 5, 60, 700, 8, 9}));
}

/// Reals of 16 bits are float32 in dice, whatever type the result has for the model.
TEST(Quantized, ByScalesOf16Bits) {
  for (const auto& [type, bits] :
       {std::pair(int{onnx::TensorProto::FLOAT16}, 0x3800), {int{onnx::TensorProto::BFLOAT16}, 0x3f00}}) {
    const auto tensors = [&, type = type, bits = bits](builder& b) {
      raw_tensor<std::int8_t>(b, "q", onnx::TensorProto::INT8, {2}, {-3, 5});
      raw_tensor<std::uint16_t>(b, "s", type, {}, {static_cast<std::uint16_t>(bits)});
    };
    EXPECT_EQ((dequantised{{2}, tensors, 19, {}, false}()), (floats{-1.5f, 2.5f}));
    EXPECT_EQ((dequantised{{2}, tensors, 23, {{"output_dtype", onnx::TensorProto::FLOAT}}, false}()), (floats{-1.5f, 2.5f}));
  }
}

/// Constants "s" and "z" that nodes state, and what moves quantised numbers.
TEST(Quantized, ThroughOtherNodes) {
  const auto c = folded({3, 2}, [](builder& b) {
    raw_tensor<std::int8_t>(b, "q", onnx::TensorProto::INT8, {2, 3}, {1, 2, 3, 4, 5, 6});
    auto& s = *b.node("Constant", {}, {"s"}).add_attribute();
    s.set_name("value_float");
    s.set_type(onnx::AttributeProto::FLOAT);
    s.set_f(0.5f);
    auto& z = *b.node("Constant", {}, {"z"}).add_attribute();
    z.set_name("value");
    z.set_type(onnx::AttributeProto::TENSOR);
    z.mutable_t()->set_data_type(onnx::TensorProto::INT32);
    z.mutable_t()->add_int32_data(0);
    b.node("Transpose", {"q"}, {"t"});
    b.ints("shape", {3, 2});
    b.node("Reshape", {"t", "shape"}, {"r"});
    set(b.node("Cast", {"r"}, {"w"}), "to", onnx::TensorProto::INT32);
    b.node("DequantizeLinear", {"w", "s", "z"}, {"c"});
  });
  EXPECT_EQ(c, (floats{0.5f, 2, 1, 2.5f, 1.5f, 3}));
}

floats quantised(const floats& x, int opset, const std::function<void(builder&, onnx::NodeProto&)>& more) {
  return folded(
      {static_cast<std::int64_t>(x.size())},
      [&](builder& b) {
        b.floats("x0", {static_cast<std::int64_t>(x.size())}, x).scalar("s", 2);
        more(b, b.node("QuantizeLinear", {"x0", "s"}, {"c"}));
      },
      opset);
}

/// Ties go to the even number, and numbers that do not fit become the nearest one that does.
TEST(Quantized, FromReals) {
  const floats x{1, 3, 5, -1, 509, 1000, -9, 2.9f};
  const auto none = [](builder&, onnx::NodeProto&) {};
  for (const int opset : {10, 13, 21, 23}) EXPECT_EQ(quantised(x, opset, none), (floats{0, 2, 2, 0, 254, 255, 0, 1}));
  const auto zero = [](int type, std::uint8_t value) {
    return [=](builder& b, onnx::NodeProto& n) {
      n.add_input("z");
      raw_tensor<std::uint8_t>(b, "z", type, {}, {value});
    };
  };
  EXPECT_EQ(quantised(x, 13, zero(onnx::TensorProto::INT8, 0xff)), (floats{-1, 1, 1, -1, 127, 127, -5, 0}));
  EXPECT_EQ(quantised(x, 13, zero(onnx::TensorProto::UINT8, 3)), (floats{3, 5, 5, 3, 255, 255, 0, 4}));
  const auto typed = [](int type) { return [=](builder&, onnx::NodeProto& n) { set(n, "output_dtype", type); }; };
  EXPECT_EQ(quantised(x, 21, typed(onnx::TensorProto::INT16)), (floats{0, 2, 2, 0, 254, 500, -4, 1}));
  EXPECT_EQ(quantised({17, -19, 1}, 21, typed(int4)), (floats{7, -8, 0}));
  EXPECT_EQ(quantised({31, -1, 33}, 21, typed(uint4)), (floats{15, 0, 15}));
  const auto both = folded({2}, [](builder& b) {
    b.floats("x0", {2}, {0.3f, -0.24f}).scalar("s", 0.125f);
    b.node("QuantizeLinear", {"x0", "s"}, {"q"});
    b.node("DequantizeLinear", {"q", "s"}, {"c"});
  });
  EXPECT_EQ(both, (floats{0.25f, 0}));
}

TEST(Quantized, AreRefusedWithAReason) {
  const auto why = [](const std::string& op, const std::function<void(builder&)>& tensors, std::vector<std::string> in,
                      int opset = 13, std::initializer_list<std::pair<const char*, int>> attributes = {}) {
    builder b(opset);
    b.input("x", {2, 3}).output("y");
    raw_tensor<std::int8_t>(b, "q", onnx::TensorProto::INT8, {2, 3}, {1, 2, 3, 4, 5, 6});
    b.scalar("s", 1).floats("s2", {2}, {1, 1}).weights("w", {2, 3});
    tensors(b);
    auto& n = b.node(op, in, {"c"}, "n");
    for (const auto& [name, value] : attributes) set(n, name, value);
    set(b.node("Cast", {"c"}, {"f"}), "to", 1);
    b.node("Add", {"x", "f"}, {"y"});
    return problems(b);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const auto nothing = [](builder&) {};
  const std::string dequantize = "DequantizeLinear", quantize = "QuantizeLinear";
  has(why(dequantize, nothing, {"q", "s2"}), "its scale is 2; its input needs 3 along axis 1");
  has(why(dequantize, nothing, {"q", "s2"}, 10), "its scale has 2 elements; before opset 13 it is one number");
  has(why(dequantize, nothing, {"q", "s2"}, 21, {{"axis", 0}, {"block_size", 2}}),
      "its scale is 2; its input needs 1x3 along axis 0");
  has(why(dequantize, [](builder& b) { raw_tensor<std::uint8_t>(b, "z", onnx::TensorProto::UINT8, {}, {0}); },
          {"q", "s", "z"}),
      "its zero point has another type than its input");
  has(why(dequantize,
          [](builder& b) {
            raw_tensor<std::int8_t>(b, "z", onnx::TensorProto::INT8, {2}, {0, 0});
          },
          {"q", "s", "z"}),
      "its zero point and its scale differ in shape");
  has(why(dequantize, nothing, {"w", "s"}), "its input holds FLOAT, not quantised numbers");
  has(why(dequantize, nothing, {"q", "q"}), "its scale holds INT8, not real numbers");
  has(why(dequantize, nothing, {"q", "s"}, 23, {{"output_dtype", onnx::TensorProto::INT8}}), "its output_dtype is INT8");
  has(why(quantize, nothing, {"w", "s"}, 21, {{"output_dtype", 17}}), "it gives FLOAT8E4M3FN, which is not supported");
  has(why(quantize, [](builder& b) { b.scalar("none", 0).scalar("zeros", 0); }, {"zeros", "none"}),
      "its input has a NaN, or its scale is 0");
  has(why(dequantize,
          [](builder& b) {
            b.tensor("e", 17, {2, 3}).set_raw_data("123456");
          },
          {"e", "s"}),
      "its element type FLOAT8E4M3FN is not supported");
  const auto of_frames = why(dequantize, nothing, {"x", "s"});
  has(of_frames,
      "it quantises or dequantises what is computed at run time; dice computes in float32, and reads quantised "
      "constants only; export the model as it was before quantization");
}

/// A network of which only the weights are integers is an ordinary one.
TEST(Quantized, WeightsOfAConvolution) {
  builder b(13);
  b.input("x", {1, 1, 2, 2}).output("y");
  raw_tensor<std::int8_t>(b, "q", onnx::TensorProto::INT8, {2, 1, 1, 1}, {3, -4});
  b.floats("s", {2}, {0.5f, 0.25f});
  raw_tensor<std::int32_t>(b, "qb", onnx::TensorProto::INT32, {2}, {2, 8});
  set(b.node("DequantizeLinear", {"q", "s"}, {"w"}), "axis", 0);
  set(b.node("DequantizeLinear", {"qb", "s"}, {"bias"}), "axis", 0);
  b.node("Conv", {"x", "w", "bias"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Conv");
  EXPECT_EQ(written(net, 0), (floats{1.5f, -1}));
  EXPECT_EQ(written(net, 1), (floats{1, 2}));
}

}  // namespace
}  // namespace onnx2hpp_test
