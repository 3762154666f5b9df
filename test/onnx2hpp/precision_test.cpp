// Models in float16, bfloat16 and double: all run as float32.
#include "computed.hpp"
#include "run_tool.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace onnx2hpp_test {
namespace {

using onnx::TensorProto;

/// A tensor of 16-bit numbers, as stored.
void halves(builder& b, const std::string& name, const std::vector<std::int64_t>& dims,
            const std::vector<std::uint16_t>& bits, int type = TensorProto::FLOAT16) {
  b.tensor(name, type, dims).set_raw_data(bits.data(), bits.size() * 2);
}
void add_cast(builder& b, const std::string& in, const std::string& out, int to) {
  set(b.node("Cast", {in}, {out}), "to", to);
}

// Numbers of float16: 1, -2, 2048, the smallest one above 0, the largest, -∞
namespace float16 {
constexpr std::uint16_t one = 0x3c00, minus_two = 0xc000, large = 0x6800, tiny = 0x0001, largest = 0x7bff,
                        below_all = 0xfc00;
}

builder half_model(int input_type = TensorProto::FLOAT16) {
  builder b(17);
  b.input("x", {1, 6}, input_type).output("y");
  halves(b, "m", {6},
         {float16::one, float16::minus_two, float16::large, float16::tiny, float16::largest, float16::below_all});
  b.node("Add", {"x", "m"}, {"y"});
  return b;
}

TEST(Precision, WeightsOfFloat16AreExact) {
  const auto net = convert(half_model());
  EXPECT_EQ(written(net), (std::vector<float>{1, -2, 2048, 0x1p-24f, 65504, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(net.notes, (std::vector<std::string>{"the model computes in FLOAT16; dice computes it in float32, with the same "
                                                 "weights, and its inputs and outputs are float32"}));
}

TEST(Precision, IsNotedIfTransposesCancel) {
  builder b(17);
  b.input("x", {2, 3}, TensorProto::FLOAT16).output("y");
  b.node("Transpose", {"x"}, {"t"});
  b.node("Relu", {"t"}, {"r"});
  b.node("Transpose", {"r"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu");
  EXPECT_EQ(convert(b).notes.size(), 1u);
}

TEST(Precision, WeightsOfBfloat16AreExact) {
  builder b(17);
  b.input("x", {1, 2}, TensorProto::BFLOAT16).output("y");
  halves(b, "m", {2}, {0x3f81, 0xff7f}, TensorProto::BFLOAT16);
  b.node("Mul", {"x", "m"}, {"y"});
  EXPECT_EQ(written(convert(b)), (std::vector<float>{1.0078125f, -0x1.fep127f}));
  EXPECT_EQ(convert(b).notes.size(), 1u);
}

TEST(Precision, InputsThatStayFloat32) {
  // onnxconverter-common with keep_io_types: Casts behind inputs and before outputs.
  builder b = half_model(TensorProto::FLOAT);
  b.graph().mutable_node(0)->set_input(0, "h");
  b.graph().mutable_node(0)->set_output(0, "s");
  add_cast(b, "x", "h", TensorProto::FLOAT16);
  add_cast(b, "s", "y", TensorProto::FLOAT);
  EXPECT_EQ(operators(convert(b)), "Add");
  EXPECT_EQ(convert(b).notes.size(), 1u);
  // A model of float32 that only stores weights in float16 computes nothing in it.
  builder c(17);
  c.input("x", {1, 1}).output("y");
  halves(c, "m", {1}, {float16::one});
  add_cast(c, "m", "f", TensorProto::FLOAT);
  c.node("Add", {"x", "f"}, {"y"});
  EXPECT_TRUE(convert(c).notes.empty());
}

TEST(Precision, ConstantsAreComputedInFloat32) {
  // In float16, 2048 + 1 would be 2048, and 65504 + 65504 would be ∞.
  builder b(17);
  b.input("x", {1, 3}, TensorProto::FLOAT16).output("y").floats("f", {3}, {0, 0, 0.1f});
  halves(b, "m", {3}, {float16::large, float16::largest, float16::one});
  halves(b, "n", {3}, {float16::one, float16::largest, float16::one});
  b.node("Add", {"m", "n"}, {"sum"});
  add_cast(b, "f", "h", TensorProto::FLOAT16);
  b.node("Sub", {"sum", "h"}, {"k"});
  b.node("Mul", {"x", "k"}, {"y"});
  EXPECT_EQ(written(convert(b)), (std::vector<float>{2049, 131008, 2 - 0.1f}));
  // The same for constants that are moved and joined before.
  builder c(17);
  c.input("x", {1, 2}, TensorProto::FLOAT16).output("y").floats("f", {1}, {0.1f});
  halves(c, "m", {1}, {float16::one});
  add_cast(c, "f", "h", TensorProto::FLOAT16);
  set(c.node("Concat", {"m", "h"}, {"k"}), "axis", 0);
  c.node("Mul", {"x", "k"}, {"y"});
  EXPECT_EQ(written(convert(c)), (std::vector<float>{1, 0.1f}));
}

TEST(Precision, DoubleIsRounded) {
  builder b(17);
  b.input("x", {1, 1}, TensorProto::DOUBLE).output("y");
  const double third = 1.0 / 3;
  b.tensor("m", TensorProto::DOUBLE, {1}).set_raw_data(&third, 8);
  b.tensor("n", TensorProto::INT64, {1}).add_int64_data(3);
  b.node("CastLike", {"n", "m"}, {"three"});
  b.node("Mul", {"m", "three"}, {"k"});
  b.node("CastLike", {"k", "x"}, {"l"});
  b.node("Mul", {"l", "m"}, {"p"});
  b.node("Mul", {"x", "p"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(written(net), std::vector<float>{static_cast<float>(third)});
  ASSERT_EQ(net.notes.size(), 1u);
  EXPECT_NE(net.notes[0].find("the model computes in DOUBLE; dice rounds"), std::string::npos);
}

TEST(Precision, IsNotedOnceAndInTheReport) {
  const scratch folder;
  const auto done = tool({folder.save("m.onnx", half_model()), "-o", folder.path});
  EXPECT_EQ(done.code, 0) << done.err;
  const auto at = done.err.find("note: the model computes in FLOAT16");
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(done.err.find("FLOAT16", at + 40), std::string::npos);
  const auto report = nlohmann::json::parse(read_file(folder.path / "m.json"));
  EXPECT_EQ(report["notes"].size(), 1u);
  // And not for a model of float32.
  builder b;
  b.input("x", {1, 1}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_EQ(tool({folder.save("f.onnx", b), "-o", folder.path}).err, "");
  EXPECT_FALSE(nlohmann::json::parse(read_file(folder.path / "f.json")).contains("notes"));
}

TEST(Precision, OtherTypesAreRefused) {
  builder b = half_model(TensorProto::STRING);
  EXPECT_NE(problems(b).find("its elements are STRING; frames are float32"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
