// Activations that hold integers for the model, and leave the network as such.
#include "computed.hpp"
#include "run_tool.hpp"

#include "dice/frames/npy.hpp"
#include "dice/graph/ops.hpp"

#include <cmath>
#include <limits>

namespace onnx2hpp_test {
namespace {

namespace fs = std::filesystem;
using dice::tensor::number;
constexpr int int64 = onnx::TensorProto::INT64, int32 = onnx::TensorProto::INT32, uint8 = onnx::TensorProto::UINT8;

/// x (1, classes, 2, 3) → ArgMax over the classes → "i" (1, 2, 3)
builder labels(std::int64_t classes = 5) {
  builder b(13);
  b.input("x", {1, classes, 2, 3}).output("y");
  auto& n = b.node("ArgMax", {"x"}, {"i"});
  set(n, "axis", 1);
  set(n, "keepdims", 0);
  return b;
}

builder with(builder b, const std::string& op, const std::vector<std::string>& in, const std::string& out = "y") {
  b.node(op, in, {out});
  return b;
}
builder cast(builder b, int to, const std::string& in = "i", const std::string& out = "y") {
  set(b.node("Cast", {in}, {out}), "to", to);
  return b;
}

/// The types of all outputs.
std::vector<number> types(const builder& b) {
  std::vector<number> out;
  for (const auto& l : convert(b).layers)
    if (const auto* op = l.op.get_if<dice::ops::output>()) out.push_back(op->number);
  return out;
}

TEST(Integers, LeaveTheNetworkWithTheirType) {
  auto b = labels();
  b.output("i")
      .ints("axes", {0})
      .ints("shape", {6})
      .ints("to", {4, 2, 3})
      .ints("from", {1})
      .ints("end", {2})
      .ints("one", {1});
  using all = std::vector<number>;
  EXPECT_EQ(types(with(b, "Identity", {"i"})), (all{number::int64, number::int64}));
  EXPECT_EQ(types(with(b, "Squeeze", {"i", "axes"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Unsqueeze", {"i", "axes"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Reshape", {"i", "shape"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Flatten", {"i"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Transpose", {"i"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Slice", {"i", "from", "end", "one"}))[0], number::int64);
  EXPECT_EQ(types(with(b, "Expand", {"i", "to"}))[0], number::int64);
  auto joined = b;
  set(joined.node("Concat", {"i", "i"}, {"y"}), "axis", 0);
  EXPECT_EQ(types(joined)[0], number::int64);
  auto taken = b;
  set(taken.node("Gather", {"i", "from"}, {"y"}), "axis", 1);
  EXPECT_EQ(types(taken)[0], number::int64);
  EXPECT_EQ(types(cast(b, int32)), (all{number::int32, number::int64}));
  EXPECT_EQ(types(cast(b, uint8))[0], number::uint8);
  EXPECT_EQ(types(cast(b, onnx::TensorProto::FLOAT))[0], number::float32);
  EXPECT_EQ(operators(convert(cast(b, int32))), "ArgMax");  // a Cast is no layer
  for (const char* op : {"DepthToSpace", "SpaceToDepth"}) {
    builder blocks(13);
    blocks.input("x", {1, 4, 2, 2}, onnx::TensorProto::INT64).output("y");
    set(blocks.node(op, {"x"}, {"y"}), "blocksize", 2);
    EXPECT_EQ(types(blocks), (all{number::int64})) << op;
  }
}

TEST(Integers, AreComputedWithOnlyAsReals) {
  auto b = labels();
  b.ints("one", {1}).floats("real", {1}, {1});
  EXPECT_NE(problems(with(b, "Add", {"i", "one"})).find("its input \"i\" holds INT64, and dice computes only with float32"),
            std::string::npos);
  auto joined = b;
  set(joined.node("Concat", {"i", "x"}, {"y"}), "axis", 0);
  EXPECT_NE(problems(joined), "");
  EXPECT_EQ(operators(convert(with(cast(b, 1, "i", "f"), "Add", {"f", "real"}))), "ArgMax Add");
  auto same = with(b, "CastLike", {"i", "x"});
  same.model.mutable_opset_import(0)->set_version(15);
  EXPECT_EQ(types(same)[0], number::float32);
  // A Cast that may lose numbers.
  EXPECT_EQ(types(cast(labels(256), uint8))[0], number::uint8);
  EXPECT_NE(problems(cast(labels(257), uint8)).find("its input holds INT64, which may not fit into UINT8"),
            std::string::npos);
  EXPECT_EQ(operators(convert(cast(labels(), onnx::TensorProto::BOOL))), "ArgMax Sign");  // no index is negative
  EXPECT_NE(problems(cast(labels(), onnx::TensorProto::INT8))
                .find("output \"y\" (, opset 0): it holds INT8; outputs can be FLOAT, INT64, INT32, UINT8 or BOOL"),
            std::string::npos);
}

/// Reals that become integers are cut where they leave the network, or become reals again.
TEST(Integers, OfReals) {
  builder b(13);
  b.input("x", {4}).output("y").output("i");
  b = cast(cast(b, int64, "x", "i"), 1);
  const auto net = convert(b);
  EXPECT_EQ(types(b), (std::vector{number::float32, number::int64}));
  EXPECT_EQ(operators(net), "Where Sign Abs Floor Mul");
  builder narrow(13);
  narrow.input("x", {4}).output("y");
  EXPECT_NE(problems(cast(cast(narrow, int64, "x", "i"), int32)), "");  // 2^40 does not fit
  EXPECT_EQ(types(cast(cast(narrow, int32, "x", "i"), int64))[0], number::int64);
}

/// A number that does not fit becomes the nearest one that does, and NaN 0, also if the integers stay in the network.
TEST(Integers, OfRealsSaturate) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{-3.7f, -0.5f, 3.7f, 254.9f, 300.7f, 3.2e9f, nan, inf};
  const auto through = [&](const std::vector<int>& all, const std::string& layers) {
    builder b(13);
    b.input("x", {8}).output("y");
    std::string in = "x";
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto out = k + 1 < all.size() ? "i" + std::to_string(k) : "y";
      b = cast(std::move(b), all[k], in, out);
      in = out;
    }
    const auto net = convert(b);
    EXPECT_EQ(operators(net), layers);
    return computed(net, {{"x", x}}).at("y");
  };
  constexpr int real = onnx::TensorProto::FLOAT;
  const std::vector<float> bytes{0, 0, 3, 254, 255, 255, 0, 255};
  EXPECT_EQ(through({uint8, real}, "Where Clip Floor"), bytes);
  EXPECT_EQ(through({uint8, int32, real}, "Clip Where Floor"), bytes);
  EXPECT_EQ(through({uint8, int64, uint8, int64, real}, "Clip Clip Where Floor"), bytes);
  const float most = 2147483648.0f;
  EXPECT_EQ(through({int32, real}, "Where Clip Sign Abs Floor Mul"),
            (std::vector<float>{-3, 0, 3, 254, 300, most, 0, most}));
  EXPECT_EQ(through({int64, real}, "Where Sign Abs Floor Mul"), (std::vector<float>{-3, 0, 3, 254, 300, 3.2e9f, 0, inf}));
  auto wide = through({uint8, int64}, "Clip");  // an output rounds, and makes NaN 0
  EXPECT_TRUE(std::isnan(wide[6]));
  wide.erase(wide.begin() + 6);
  EXPECT_EQ(wide, (std::vector<float>{0, 0, 3.7f, 254.9f, 255, 255, 255}));
  for (const int type : {uint8, int32, int64}) through({type}, "");  // an output saturates
  EXPECT_EQ(operators(convert(cast(cast(labels(), uint8), real, "y", "z"))), "ArgMax") << "classes fit";
}

/// What a model makes of an activation's shape does not depend on its type.
TEST(Integers, HaveShapesAndAreSplitIntoSequences) {
  auto b = labels();
  b.ints("three", {3}).output("z");
  b.node("Shape", {"i"}, {"shape"});
  b.node("Expand", {"three", "shape"}, {"threes"});
  b.node("ReduceSum", {"threes"}, {"sum"});
  b.node("Size", {"i"}, {"size"});
  b.node("Add", {"sum", "size"}, {"24"});
  b.node("Cast", {"24"}, {"real"});
  set(*b.graph().mutable_node(b.graph().node_size() - 1), "to", onnx::TensorProto::FLOAT);
  b.node("Add", {"x", "real"}, {"z"});
  b.ints("ones", {1, 1});
  set(b.node("SplitToSequence", {"i", "ones"}, {"parts"}), "axis", 1);
  b.ints("last", {-1});
  b.node("SequenceAt", {"parts", "last"}, {"part"});
  b.node("SequenceConstruct", {"part", "i"}, {"both"});
  set(b.node("ConcatFromSequence", {"both"}, {"y"}), "axis", 1);
  ASSERT_EQ(problems(b), "");
  const auto net = convert(b);
  EXPECT_EQ(types(b), (std::vector{number::int64, number::float32}));
  std::vector<float> x(30);
  for (int k = 0; k < 6; ++k) x[k % 5 * 6 + k] = 1;
  const auto y = computed(net, {{"x", x}});
  EXPECT_EQ(y.at("y"), (std::vector<float>{3, 4, 0, 0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(y.at("z")[0], 25);
  auto mixed = with(cast(labels(), onnx::TensorProto::FLOAT, "i", "real"), "SequenceConstruct", {"i", "real"}, "both");
  set(mixed.node("ConcatFromSequence", {"both"}, {"y"}), "axis", 1);
  EXPECT_NE(problems(mixed).find("its inputs hold different types"), std::string::npos) << problems(mixed);
}

/// The largest INT32, which float32 does not hold, is what it saturates to.
TEST(Integers, LimitsAreComparedAsIntegers) {
  const scratch folder;
  builder b(13);
  b.input("x", {2}).output("y");
  const auto model = folder.save("net.onnx", cast(b, int32, "x", "y"));
  dice::frames::write_npy((folder.path / "x.npy").string(), dice::frames::tensor{3e9f, -3e9f});
  dice::frames::write_npy((folder.path / "y.npy").string(), dice::frames::tensor{3e9f, -3e9f}, number::int32);
  EXPECT_EQ(tool({model, "-o", folder.path, "--expect", folder.path / "x.npy", "--expect", folder.path / "y.npy"}).code, 0);
}

TEST(Integers, AreComparedExactly) {
  const scratch folder;
  const auto model = folder.save("net.onnx", with(labels(), "Identity", {"i"}));
  const auto t = folder.path / "t";
  fs::create_directory(t);
  dice::frames::tensor x = xt::zeros<float>({2, 5, 2, 3});
  dice::frames::tensor y = xt::zeros<float>({2, 2, 3});
  for (int k = 0; k < 12; ++k) {
    y.flat(k) = static_cast<float>(k % 5);
    x(k / 6, k % 5, k / 3 % 2, k % 3) = 1;
  }
  dice::frames::write_npy((t / "x.npy").string(), x);
  dice::frames::write_npy((t / "y.npy").string(), y, number::int64);
  const auto run = [&](const std::vector<std::string>& options = {}) {
    std::vector<std::string> all{model, "-o", folder.path / "out", "--expect", t};
    all.insert(all.end(), options.begin(), options.end());
    return tool(all);
  };
  const auto done = run();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("1 tensor, 2 frames, tolerance 0: all agree"), std::string::npos) << done.out;
  EXPECT_NE(read_file(folder.path / "out" / "net.hpp").find("output op{.number = ::dice::tensor::number::int64};"),
            std::string::npos);
  EXPECT_NE(read_file(folder.path / "out" / "net.json").find("\"type\": \"int64\""), std::string::npos);

  y.flat(7) += 1;
  dice::frames::write_npy((t / "y.npy").string(), y, number::int64);
  const auto wrong = run();
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.out.find("differs: 1 of 12"), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.err.find("error 0.0833 (share of unequal numbers), tolerance 0;"), std::string::npos) << wrong.err;
  EXPECT_EQ(run({"--tolerance", "0.084"}).code, 0);
  EXPECT_EQ(run({"--tolerance", "0.083"}).code, 1);

  dice::frames::write_npy((t / "y.npy").string(), y);
  EXPECT_NE(run().err.find("tensor \"y\" is int64 (N, 2, 3): save it with .astype(np.int64)"), std::string::npos)
      << run().err;
  fs::remove(t / "y.npy");
  onnx::TensorProto p;
  p.set_data_type(int64);
  for (const int d : {2, 2, 3}) p.add_dims(d);
  for (int k = 0; k < 12; ++k) p.add_int64_data(k % 5);
  folder.write("t/y.pb", p.SerializeAsString());
  EXPECT_EQ(run().code, 0) << run().err;
  p.set_int64_data(3, (1 << 24) + 1);
  folder.write("t/y.pb", p.SerializeAsString());
  EXPECT_NE(run().err.find("holds 16777217, which no result can be"), std::string::npos) << run().err;
}

/// Inputs of integers: frames hold the same numbers. What only moves them comes before a Cast; arithmetic does not.
TEST(Integers, AsInputs) {
  using tensor = onnx::TensorProto;
  for (const auto& [type, as] : {std::pair(int{tensor::UINT8}, number::uint8),
                                 {int{tensor::INT8}, number::float32},
                                 {int{tensor::UINT16}, number::float32},
                                 {int{tensor::INT16}, number::float32},
                                 {int{tensor::INT32}, number::int32},
                                 {int{tensor::UINT32}, number::float32},
                                 {int{tensor::INT64}, number::int64},
                                 {int{tensor::UINT64}, number::float32},
                                 {int{tensor::BOOL}, number::boolean}}) {
    builder b(13);
    b.input("x", {1, 2, 3}, type).output("y").ints("from", {1}).ints("end", {3}).ints("axis", {2});
    b.node("Unsqueeze", {"x", "axis"}, {"t"});
    b.node("Squeeze", {"t", "axis"}, {"u"});
    b.node("Slice", {"u", "from", "end", "axis"}, {"s"});
    b = cast(std::move(b), tensor::FLOAT, "s", "f");
    b.scalar("k", 0.5f).node("Mul", {"f", "k"}, {"y"});
    ASSERT_EQ(problems(b), "") << type;
    const auto net = convert(b);
    EXPECT_EQ(first<dice::ops::input>(net).number, as) << type;
    EXPECT_EQ(operators(net), "Reshape Reshape Slice Mul") << type;
    EXPECT_EQ(computed(net, {{"x", {1, 0, 1, 0, 1, 1}}}).at("y"), (std::vector<float>{0, 0.5f, 0.5f, 0.5f})) << type;
  }
  builder whole(13);
  whole.input("x", {2}, uint8).output("y").tensor("two", tensor::UINT8, {}).set_raw_data("\2");
  auto b = with(cast(whole, tensor::FLOAT, "q", "y"), "Div", {"x", "two"}, "q");  // 3 / 2 is 1
  EXPECT_NE(problems(b).find("its input \"x\" holds UINT8, and dice computes only with float32"), std::string::npos);
  b = with(cast(whole, tensor::FLOAT, "q", "y"), "Greater", {"x", "two"}, "q");
  EXPECT_NE(problems(b).find("its input \"x\" holds UINT8"), std::string::npos);
  EXPECT_EQ(types(cast(cast(whole, int32, "x", "i"), int64)), (std::vector{number::int64}));
  EXPECT_EQ(operators(convert(cast(whole, tensor::BOOL, "x"))), "Sign");
  builder text(13);
  text.input("x", {2}, tensor::STRING).output("y");
  EXPECT_NE(problems(with(text, "Identity", {"x"})).find("its elements are STRING; frames are float32"), std::string::npos);
}

/// The tool says that frames are float32, and from which size on they are not exact.
TEST(Integers, AsInputsAreNoted) {
  const scratch folder;
  const auto said = [&](int type) {
    builder b(13);
    b.input("x", {2}, type).output("y");
    return tool({folder.save("net.onnx", cast(b, 1, "x")), "-o", folder.path / "out"}).err;
  };
  EXPECT_EQ(said(uint8), "onnx2hpp: note: the input \"x\" holds UINT8; its frames hold the same numbers in float32\n");
  EXPECT_EQ(
      said(int64),
      "onnx2hpp: note: the input \"x\" holds INT64; its frames hold the same numbers in float32, which are exact up to "
      "2^24 (16777216)\n");
  EXPECT_NE(read_file(folder.path / "out" / "net.json").find("holds INT64; its frames hold the same"), std::string::npos);
  EXPECT_NE(
      read_file(folder.path / "out" / "net.hpp").find("input op{.extents = {2}, .number = ::dice::tensor::number::int64};"),
      std::string::npos);
}

/// --expect takes the model's type and float32.
TEST(Integers, AsInputsOfExpect) {
  const scratch folder;
  builder b(13);
  b.input("x", {1, 3}, uint8).output("y");
  const auto model = folder.save("net.onnx", cast(b, 1, "x"));
  const auto y = (folder.path / "y.npy").string(), x = (folder.path / "x.npy").string();
  const dice::frames::tensor frames{{0, 200, 255}, {1, 2, 3}};
  dice::frames::write_npy(y, frames);
  const auto run = [&](const std::string& in) { return tool({model, "-o", folder.path, "--expect", in, "--expect", y}); };
  for (const auto type : {number::uint8, number::float32}) {
    dice::frames::write_npy(x, frames, type);
    const auto done = run(x);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.out.find("1 tensor, 2 frames, tolerance 0.0001: all agree"), std::string::npos) << done.out;
  }
  dice::frames::write_npy(x, frames, number::int64);
  EXPECT_NE(run(x).err.find("holds int64 (2, 3); input \"x\" is uint8 (N, 3)"), std::string::npos) << run(x).err;
  onnx::TensorProto p;
  p.set_name("x");
  p.set_data_type(uint8);
  for (const int d : {2, 3}) p.add_dims(d);
  for (const float v : frames) p.add_int32_data(static_cast<int>(v));
  fs::remove(x);
  folder.write("x.pb", p.SerializeAsString());
  EXPECT_EQ(run(folder.path / "x.pb").code, 0) << run(folder.path / "x.pb").err;
  p.set_data_type(int32);
  folder.write("x.pb", p.SerializeAsString());
  EXPECT_NE(run(folder.path / "x.pb").err.find("holds elements of type INT32; input \"x\" is uint8"), std::string::npos)
      << run(folder.path / "x.pb").err;
}

}  // namespace
}  // namespace onnx2hpp_test
