// --expect: the converted network against given tensors.
#include "run_tool.hpp"

#include "dice/frames/npy.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace onnx2hpp_test {
namespace {

namespace fs = std::filesystem;

/// x (N,2) → Mul 2 → "a/b:0" → Relu → "r" → Add 1 → y
builder scalar_chain() {
  builder b;
  b.input("x", {1, 2}).output("y").scalar("two", 2).scalar("one", 1);
  b.node("Mul", {"x", "two"}, {"a/b:0"}, "double");
  b.node("Relu", {"a/b:0"}, {"r"}, "relu");
  b.node("Add", {"r", "one"}, {"y"}, "increment");
  return b;
}

/// A model, a folder "t" with tensors, and onnx2hpp, which writes to a folder "out".
struct bench {
  explicit bench(const builder& b = scalar_chain()) : model(folder.save("net.onnx", b)) {
    fs::create_directory(folder.path / "t");
  }

  void save(const std::string& name, const dice::frames::tensor& values) const {
    dice::frames::write_npy((folder.path / "t" / name).string(), values);
  }
  /// The values of two frames of scalar_chain(), without those of "r".
  void save_chain() const {
    save("x.npy", {{-1, 3}, {2, -4}});
    save("a_b_0.npy", {{-2, 6}, {4, -8}});
    save("y.npy", {{1, 7}, {5, 1}});
  }
  outcome run(std::vector<std::string> options) const {
    options.insert(options.begin(), {model, "-o", folder.path / "out"});
    return tool(options);
  }
  outcome run() const { return run({"--expect", folder.path / "t"}); }
  nlohmann::json report() const { return nlohmann::json::parse(read_file(folder.path / "out" / "net.json"))["expected"]; }
  /// That onnx2hpp says all of `texts`, ends with 1, and writes nothing.
  void refuses(const std::vector<std::string>& texts) const {
    fs::remove_all(folder.path / "out");
    const auto done = run();
    EXPECT_EQ(done.code, 1);
    for (const auto& text : texts) EXPECT_TRUE(contains(done.err, text)) << text << "\n" << done.err;
    EXPECT_TRUE(files(folder.path / "out").empty());
  }

  scratch folder;
  std::string model;
};

std::string proto(const std::vector<std::int64_t>& dims, const std::vector<float>& values, bool raw) {
  onnx::TensorProto t;
  t.set_data_type(onnx::TensorProto::FLOAT);
  for (auto d : dims) t.add_dims(d);
  if (raw) t.set_raw_data(values.data(), values.size() * 4);
  else
    for (float v : values) t.add_float_data(v);
  return t.SerializeAsString();
}

TEST(Expect, ComparesAllFramesOfAllTensors) {
  const bench b;
  b.save_chain();
  const auto done = b.run();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(done.out, "2 tensors, 2 frames, tolerance 0.0001: all agree")) << done.out;
  EXPECT_EQ(files(b.folder.path / "out"), (std::set<std::string>{"net.hpp", "net.json", "net.safetensors"}));
  EXPECT_EQ(b.report(), nlohmann::json::parse(R"({"tolerance": 1e-4, "frames": 2, "skipped": [], "tensors": [
      {"name": "a/b:0", "layer": 1, "frames": 2, "max_error": 0.0, "relative_error": 0.0},
      {"name": "y", "layer": 3, "frames": 2, "max_error": 0.0, "relative_error": 0.0}]})"));
}

TEST(Expect, NamesTheFirstLayerThatDiffers) {
  const bench b;
  b.save_chain();
  b.save("r.npy", {{0, 6}, {5, 0}});
  b.save("y.npy", {{1, 7}, {6, 1}});
  b.refuses(
      {"tensor \"r\": it is the first that differs: error 0.167 (max |a-b| / max |b|), tolerance 0.0001; \"relu\" (Relu) "
       "computes it from tensors that agree"});
  const auto done = b.run();
  EXPECT_TRUE(contains(done.out, "3 tensors, 2 frames, tolerance 0.0001: 2 differ")) << done.out;
}

TEST(Expect, NarrowsTheMistakeToLayersBehindTensorsThatAgree) {
  const bench b;
  b.save_chain();
  b.save("y.npy", {{1, 7}, {6, 1}});
  b.refuses({"the mistake is in one of 2 layers, from \"relu\" (Relu) to \"increment\" (Add)"});
  fs::remove(b.folder.path / "t" / "a_b_0.npy");
  b.refuses({"the mistake is in one of 3 layers, from \"double\" (Mul) to \"increment\" (Add)"});
}

TEST(Expect, ToleranceIsRelativeToTheLargestExpectedValue) {
  const bench b;
  b.save_chain();
  b.save("y.npy", {{1, 7.07f}, {5.5f, 1}});  // 0.5 / 7.07
  EXPECT_EQ(b.run({"--expect", b.folder.path / "t", "--tolerance", "0.07"}).code, 1);
  EXPECT_EQ(b.run({"--expect", b.folder.path / "t", "--tolerance", "0.0708"}).code, 0);
  EXPECT_FLOAT_EQ(b.report()["tensors"][1]["max_error"].get<float>(), 0.5f);
}

TEST(Expect, WritesNothingWithListLayers) {
  const bench b;
  b.save_chain();
  const auto done = b.run({"--expect", b.folder.path / "t", "--list-layers"});
  EXPECT_EQ(done.code, 0);
  EXPECT_TRUE(contains(done.out, "5 layers") && contains(done.out, "all agree")) << done.out;
  EXPECT_TRUE(files(b.folder.path / "out").empty());
  EXPECT_EQ(b.run({"--expect", b.folder.path / "t", "-q"}).out, "");
}

TEST(Expect, FilesOneByOne) {
  const bench b;
  b.save_chain();
  const std::string t = b.folder.path / "t";
  EXPECT_EQ(b.run({"--expect", t + "/x.npy", "--expect", "y=" + t + "/y.npy"}).code, 0);
  const auto done = b.run({"--expect", "y=" + t + "/x.npy", "--expect", "x=" + t + "/y.npy"});
  EXPECT_TRUE(contains(done.out, "1 differs")) << done.out << done.err;
}

/// What numpy.save makes of a result without axes.
TEST(Expect, ANumberIsAFrame) {
  builder m(18);
  m.input("x", {1, 4}).output("y");
  set(m.node("ReduceMean", {"x"}, {"y"}), "keepdims", 0);
  const bench b(m);
  b.save("x.npy", {{1, 2, 3, 6}});
  b.save("y.npy", 3.0f);
  ASSERT_TRUE(contains(read_file(b.folder.path / "t" / "y.npy"), "'shape': (), "));
  EXPECT_EQ(b.run().code, 0) << b.run().err;
  b.save("x.npy", 3.0f);
  b.refuses({"x.npy' holds float32 (); input \"x\" is float32 (N, 4)"});
}

TEST(Expect, TestDataOfOnnx) {
  const bench b;
  for (const bool raw : {false, true}) {
    const auto set = b.folder.path / "t" / ("test_data_set_" + std::to_string(raw));
    fs::create_directory(set);
    std::ofstream(set / "input_0.pb") << proto({1, 2}, {raw ? 2.0f : -1.0f, 3}, raw);
    std::ofstream(set / "output_0.pb") << proto({1, 2}, {raw ? 5.0f : 1.0f, 7}, raw);
  }
  const auto done = b.run();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(b.report()["tensors"][0]["frames"], 2);
  EXPECT_EQ(b.report()["frames"], 2);
  EXPECT_EQ(b.run({"--expect", b.folder.path / "t" / "test_data_set_1"}).code, 0);
  std::ofstream(b.folder.path / "t" / "test_data_set_1" / "output_1.pb") << proto({1, 2}, {1, 7}, true);
  b.refuses({"output_1.pb\": the model has 1 output; remove the file"});
}

/// With weights that are transposed, scaled and folded: x → Conv "c" → BatchNormalization "n" → Identity "i" → Gemm → y
TEST(Expect, FoldedLayers) {
  builder m;
  m.input("x", {1, 1, 1, 2}).output("y").floats("w", {1, 1, 1, 1}, {3}).ints("to", {1, 2});
  m.floats("scale", {1}, {2}).floats("bias", {1}, {1}).floats("mean", {1}, {0}).floats("variance", {1}, {1});
  m.floats("v", {2, 3}, {1, 2, 3, 4, 5, 6});
  m.node("Conv", {"x", "w"}, {"c"}, "conv");
  set(m.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"n"}, "norm"), "epsilon", 0.0f);
  m.node("Identity", {"n"}, {"i"});
  m.node("Reshape", {"i", "to"}, {"f"});
  set(m.node("Gemm", {"f", "v"}, {"y"}, "fc"), "alpha", 0.5f);
  const bench b(m);
  b.save("x.npy", {{{{1, 2}}}});
  b.save("c.npy", {{{{3, 6}}}});
  b.save("n.npy", {{{{7, 13}}}});
  b.save("i.npy", {{{{7, 13}}}});
  b.save("scale.npy", {2});
  b.save("y.npy", {{29.5f, 39.5f, 49.5f}});
  auto done = b.run();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "no layer computes \"c\", \"scale\", which --expect has")) << done.err;
  EXPECT_EQ(b.report()["skipped"], (std::vector<std::string>{"c", "scale"}));
  ASSERT_EQ(b.report()["tensors"].size(), 3u);
  EXPECT_EQ(b.report()["tensors"][0]["layer"], b.report()["tensors"][1]["layer"]) << "i is n";
  done = b.run({"--expect", b.folder.path / "t", "--no-fold"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(b.report()["skipped"], (std::vector<std::string>{"scale"}));
  b.save("n.npy", {{{{3, 6}}}});
  b.refuses({"tensor \"n\": it is the first that differs"});
}

TEST(Expect, TensorsThatSeveralLayersRead) {
  builder m;
  m.input("x", {1, 2}).input("z", {1, 2}).output("y").output("r").scalar("two", 2);
  m.node("Mul", {"x", "two"}, {"a"});
  m.node("Relu", {"a"}, {"r"});
  m.node("Sub", {"a", "z"}, {"s"});
  m.node("Sum", {"r", "a", "s", "a"}, {"y"});
  const bench b(m);
  b.save("x.npy", {{-1, 3}});
  b.save("z.npy", {{10, 20}});
  b.save("r.npy", {{0, 6}});
  b.save("y.npy", {{-16, 4}});
  const auto done = b.run();
  EXPECT_EQ(done.code, 0) << done.out << done.err;
}

TEST(Expect, AnotherNameOfAnInput) {
  builder m;
  m.input("x", {1, 2}).output("y");
  m.node("Identity", {"x"}, {"i"});
  m.node("Relu", {"i"}, {"y"});
  const bench b(m);
  b.save("x.npy", {{1, 2}});
  b.save("i.npy", {{1, 3}});
  b.refuses({"tensor \"i\": it is the first that differs",
             "it is the input \"x\", perhaps in another type: give files of the same frames"});
}

TEST(Expect, Names) {
  const bench b;
  b.save_chain();
  b.save("yy.npy", {{1, 7}, {5, 1}});
  b.refuses({"yy.npy\": the model has no tensor \"yy\"; did you mean \"y\"?"});
  fs::rename(b.folder.path / "t" / "yy.npy", b.folder.path / "t" / "y.pb");
  b.refuses({"y.npy\" also has values of \"y\"", "y.pb\": "});
  fs::remove(b.folder.path / "t" / "y.pb");
  fs::remove(b.folder.path / "t" / "x.npy");
  b.refuses({"input \"x\": --expect has no values of it; add a file x.npy"});

  builder two;
  two.input("x", {1, 2}).output("p/q");
  two.node("Relu", {"x"}, {"p:q"});
  two.node("Relu", {"p:q"}, {"p/q"});
  const bench c(two);
  c.save("x.npy", {{1, 2}});
  c.save("p_q.npy", {{1, 2}});
  c.refuses({"p_q.npy\": it may be \"p/q\" or \"p:q\"; say which: --expect NAME=FILE"});
  c.save("p:q.npy", {{1, 2}});
  fs::remove(c.folder.path / "t" / "p_q.npy");
  EXPECT_EQ(c.run().code, 0);
}

TEST(Expect, FilesThatCannotBeUsed) {
  const bench b;
  const auto t = b.folder.path / "t";
  b.refuses({"has no tensors; put files there"});
  b.save_chain();
  const std::string whole = read_file(t / "x.npy");
  b.save("x.npy", {{1, 2, 3}});
  b.save("y.npy", {{1, 2}});
  b.refuses({"x.npy' holds float32 (1, 3); input \"x\" is float32 (N, 2)", "y.npy\" has 1 frame of tensor \"y\"",
             "a_b_0.npy\" has 2"});
  b.save_chain();
  b.save("x.npy", {{1, 2}, {std::numeric_limits<float>::quiet_NaN(), 2}});
  b.refuses({"(input \"x\"): frame 1 holds NaN at [0, 0]; give finite numbers"});
  b.save_chain();
  b.folder.write("t/x.npy", whole.substr(0, whole.size() - 4));
  b.folder.write("t/y.npy", "y");
  b.refuses({"x.npy' is cut short or damaged", "y.npy' is not a .npy file"});
  b.save_chain();
  fs::remove(t / "y.npy");
  b.folder.write("t/y.pb", "\xff");
  b.refuses({"y.pb\": it is not an ONNX tensor (TensorProto), or it is damaged; write it with onnx.save_tensor"});
  b.folder.write("t/y.pb", proto({2, 3}, {1, 7, 5, 1}, true));
  b.refuses({"y.pb\": it holds 16 bytes where its shape needs 24"});
  b.folder.write("t/y.pb", proto({4}, {1, 7, 5, 1}, true));
  b.refuses({"y.pb\" holds float32 (4,); tensor \"y\" is float32 (N, 2)"});
  onnx::TensorProto wrong;
  wrong.set_data_type(onnx::TensorProto::INT64);
  wrong.add_dims(0);
  b.folder.write("t/y.pb", wrong.SerializeAsString());
  b.refuses({"y.pb\" holds elements of type INT64; tensor \"y\" is float32"});
  fs::remove(t / "y.pb");
  fs::remove(t / "a_b_0.npy");
  b.refuses({"--expect has values of graph inputs only"});
}

TEST(Expect, WrongUsage) {
  const bench b;
  b.save_chain();
  const std::string t = b.folder.path / "t";
  const auto says = [&](const std::vector<std::string>& options, int code, const std::string& text) {
    const auto done = b.run(options);
    EXPECT_EQ(done.code, code);
    EXPECT_TRUE(contains(done.err, text)) << done.err;
  };
  says({"--tolerance", "1"}, 2, "--tolerance needs --expect FILE");
  for (const char* wrong : {"-1", "x", "nan", "inf", "1e"})
    says({"--expect", t, "--tolerance=" + std::string(wrong)}, 2, "--tolerance: expected a number from 0 on");
  says({"--expect", ""}, 2, "--expect: the name is empty");
  says({"--expect", "=f"}, 2, "--expect: expected NAME=FILE");
  says({"--expect", "nothing"}, 1, "--expect: there is no file or folder \"nothing\"");
  says({"--expect", "x=" + t + "/no.npy", "--expect", t + "/y.npy"}, 1, "no.npy' cannot be opened: No such file");
  says({"--expect", t, "--dot", t + "/x.npy"}, 2, "x.npy");
}

TEST(Expect, SaysIfItsTableCannotBeWritten) {
  const bench b;
  b.save_chain();
  const auto done = run({"/bin/sh", "-c", R"("$0" "$1" -o "$2" --expect "$3" > /dev/full)", ONNX2HPP, b.model,
                         b.folder.path / "out", b.folder.path / "t"});
  EXPECT_EQ(done.code, 1);
  EXPECT_TRUE(contains(done.err, "the standard output cannot be written: No space left on device")) << done.err;
  EXPECT_TRUE(files(b.folder.path / "out").empty());
}

TEST(Expect, FilesAreDependencies) {
  const bench b;
  b.save_chain();
  ASSERT_EQ(b.run({"--expect", b.folder.path / "t", "--depfile", b.folder.path / "d"}).code, 0);
  for (const char* name : {"x.npy", "y.npy", "a_b_0.npy"})
    EXPECT_TRUE(contains(read_file(b.folder.path / "d"), name)) << name;
}

}  // namespace
}  // namespace onnx2hpp_test
