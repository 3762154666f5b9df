// Generated headers compile, whatever names a model has, and say the same as the model.
#include "compile_header.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace onnx2hpp_test {
namespace {

TEST(Header, HostileNames) {
  const std::vector<std::string> names = {"class",    "int",
                                          "linux",    "unix",
                                          "errno",    "I",
                                          "EOF",      "NULL",
                                          "assert",   "stdin",
                                          "id",       "op",
                                          "name",     "onnx_name",
                                          "operands", "parameters",
                                          "result",   "network",
                                          "layer",    "layer_at",
                                          "type",     "size",
                                          "weights",  "Id",
                                          "std",      "dice",
                                          "time",     "signal",
                                          "printf",   "main",
                                          "",         "/a/b.c/Conv",
                                          "a:b",      "\"quoted\" \\ \n line",
                                          "?\?/",     "1",
                                          "1_2",      "__x__",
                                          "_",        "é",
                                          "same",     "same",
                                          "same",     "same_2",
                                          "E2BIG",    "B0",
                                          "st_atime", "M_PI",
                                          "true",     "alignas",
                                          "s6_addr",  "*/ }; int x;",
                                          "channels", "extents",
                                          "infinity", "SIGINT",
                                          "DICE_MPI"};
  builder b;
  b.input("input", {1, 2}).output("network");
  std::string last = "input";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string next = i + 1 == names.size() ? "network"
                             : i == 3              ? "value \"\n" + std::to_string(i)
                                                   : "v" + std::to_string(i);
    b.node("Relu", {last}, {next}, names[i]);
    last = next;
  }
  const scratch folder;
  const auto done = tool({folder.save("m.onnx", b), "--name", "net", "-o", folder.path});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto compiled = compile(folder.path, "net");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
  EXPECT_EQ(compiled.err, "");
  const auto report = nlohmann::json::parse(read_file(folder.path / "net.json"));
  std::set<std::string> identifiers;
  for (const auto& l : report["layers"]) EXPECT_TRUE(identifiers.insert(l["name"]).second) << l["name"];
  EXPECT_EQ(report["layers"][1]["name"], "class_");
  EXPECT_EQ(report["layers"][1]["onnx_name"], "class");
  for (const char* name :
       {"same", "same_2", "same_3", "same_2_2", "a_b_c_Conv", "linux_", "I_", "network_", "relu_1_2", "v30"})
    EXPECT_TRUE(identifiers.contains(name)) << name;
  for (const auto& i : identifiers) EXPECT_EQ(i.find("__"), std::string::npos) << i;
}

TEST(Header, NamesArriveExactly) {
  builder b;
  b.input("in\n\"\\?\x01\xc3\xa9", {1, 2}).output("y");
  b.node("Relu", {"in\n\"\\?\x01\xc3\xa9"}, {"y"}, "trigraph ?\?= 7");
  const scratch folder;
  ASSERT_EQ(tool({folder.save("m.onnx", b), "-o", folder.path}).code, 0);
  const auto compiled = compile(folder.path, "m",
                                R"(static_assert(m::network::layer<0>::onnx_name == "in\n\"\\\?\001\303\251");
                                   static_assert(m::network::layer<1>::onnx_name == "trigraph \?\?= 7");)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Header, AttributesArriveExactly) {
  builder b;
  b.input("x", {1, 4, 6, 6})
      .output("y")
      .output("s")
      .weights("w", {4, 1, 3, 3})
      .scalar("lo", -0.1f)
      .weights("c", {4, 1, 1})
      .ints("pads", {0, 0, 1, 0, 0, 0, 0, 2});
  b.scalar("third", 1.0f / 3).input("bytes", {2}, onnx::TensorProto::UINT8).output("reals");
  set(b.node("Cast", {"bytes"}, {"reals"}), "to", onnx::TensorProto::FLOAT);
  auto& conv = b.node("Conv", {"x", "w"}, {"a"}, "conv");
  set(conv, "group", 4);
  set(conv, "auto_pad", "SAME_LOWER");
  b.node("Clip", {"a", "lo"}, {"b"}, "clip");
  set(b.node("LeakyRelu", {"b"}, {"l"}, "leaky"), "alpha", 1e-7f);
  b.node("Sub", {"c", "l"}, {"d"}, "sub");
  b.node("Pad", {"d", "pads", "third"}, {"p"}, "pad");
  set(b.node("Transpose", {"p"}, {"t"}, "transpose"), "perm", {0, 2, 3, 1});
  b.node("GlobalAveragePool", {"p"}, {"s"}, "pool");
  set_list(b.node("ReduceMean", {"t"}, {"y"}, "mean"), "axes", {3});
  const scratch folder;
  ASSERT_EQ(tool({folder.save("m.onnx", b), "--no-fold", "-o", folder.path}).code, 0);
  const auto compiled = compile(folder.path, "m", R"(
      static_assert(m::conv::op.group == 4 && m::conv::op.pads == ::std::array<int, 4>{1, 1, 1, 1});
      static_assert(m::bytes::op.number == ::dice::tensor::number::uint8 && m::bytes::result == ::dice::tensor::shape{2});
      static_assert(m::clip::op.low == -0.1f && m::clip::op.high == ::std::numeric_limits<float>::infinity());
      static_assert(m::leaky::op.alpha == 1e-7f);
      static_assert(m::sub::op.which == ::dice::ops::constant::first && m::sub::op.fixed == ::dice::tensor::shape{4, 1, 1});
      static_assert(m::pad::op.value == 1.0f / 3 && m::pad::op.before[2] == 1 && m::pad::op.after[3] == 2);
      static_assert(m::transpose::result == ::dice::tensor::shape{1, 7, 8, 4});
      static_assert(m::mean::op.over[3] && m::mean::result == ::dice::tensor::shape{1, 7, 8, 1});
      static_assert(m::network::weights.file == "m.safetensors" && m::network::name == "m");)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Header, EnumerationsArriveExactly) {
  builder b;
  b.input("x", {1, 2, 5, 7}).floats("scales", {4}, {1, 1, 1.7f, 0.6f}).floats("roi", {8}, {0, 0, 0, 0, 1, 1, 1, 1});
  b.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1}).weights("w", {7}).weights("v", {2});
  std::string checks;
  const auto add = [&](const std::string& op, const std::string& expected,
                       std::vector<std::string> inputs = {"x"}) -> auto& {
    const auto name = "n" + std::to_string(b.graph().node_size());
    checks += "static_assert(m::" + name + "::op." + expected + ");\n";
    b.output(name + "_y");
    return b.node(op, inputs, {name + "_y"}, name);
  };
  const std::pair<const char*, const char*> reductions[] = {
      {"ReduceMean", "mean"},    {"ReduceSum", "total"},   {"ReduceSumSquare", "total_square"},
      {"ReduceProd", "product"}, {"ReduceMax", "largest"}, {"ReduceMin", "smallest"},
      {"ArgMax", "arg_max"},     {"ArgMin", "arg_min"}};
  for (const auto& [op, how] : reductions) add(op, std::string("how == ::dice::ops::reduction::") + how);
  set(add("ArgMax", "last_index"), "select_last_index", 1);
  for (const char* mode : {"constant", "reflect", "edge"})
    set(add("Pad", std::string("mode == ::dice::ops::padding::") + mode, {"x", "pads"}), "mode", mode);
  for (const char* mode : {"nearest", "linear", "cubic"})
    set(add("Resize", std::string("mode == ::dice::ops::resizing::") + mode, {"x", "", "scales"}), "mode", mode);
  for (const char* from : {"asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "tf_crop_and_resize"}) {
    auto& n = add("Resize", std::string("from == ::dice::ops::coordinates::") + from, {"x", "roi", "scales"});
    set(n, "mode", "linear");
    set(n, "coordinate_transformation_mode", from);
  }
  for (const char* how : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    set(add("Resize", std::string("nearest == ::dice::ops::rounding::") + how, {"x", "", "scales"}), "nearest_mode", how);
  add("LayerNormalization", "how == ::dice::ops::normalizing::layer", {"x", "w"});
  add("InstanceNormalization", "how == ::dice::ops::normalizing::instance", {"x", "v", "v"});
  for (const int p : {1, 2}) set(add("LpNormalization", "how == ::dice::ops::normalizing::l" + std::to_string(p)), "p", p);
  const scratch folder;
  const auto done = tool({folder.save("m.onnx", b), "--no-fold", "-o", folder.path});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto compiled = compile(folder.path, "m", checks);
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Header, TwoNetworksInOneProgram) {
  builder b;
  b.input("x", {1, 2}).output("y");
  b.node("Relu", {"x"}, {"y"});
  const scratch folder;
  const auto m = folder.save("m.onnx", b);
  ASSERT_EQ(tool({m, "--name", "one", "-o", folder.path}).code, 0);
  ASSERT_EQ(tool({m, "--name", "two", "-o", folder.path}).code, 0);
  EXPECT_EQ(compile(folder.path, "one", "#include \"two.hpp\"\nusing namespace one; using namespace dice;").code, 0);
}

}  // namespace
}  // namespace onnx2hpp_test
