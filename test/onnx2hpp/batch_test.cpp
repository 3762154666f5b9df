// Models that hold for one batch only, and outputs that the model declares otherwise.
#include "convert_model.hpp"
#include "run_tool.hpp"

#include <gtest/gtest.h>

namespace onnx2hpp_test {
namespace {

/// A Reshape, a Concat and a Gemm that hold for a batch of 1 only.
TEST(Batch, NodesThatFixIt) {
  const auto model = [](const char* batch) {
    builder b;
    b.symbolic_input("x", {batch, "5"}).output("y").output("z").output("t").ints("one", {1, 5}).weights("token", {1, 5});
    b.node("Reshape", {"x", "one"}, {"y"}, "flat");
    set(b.node("Concat", {"x", "token"}, {"z"}, "join"), "axis", 1);
    b.weights("w", {5, 3}).ints("row", {1, -1}).node("Reshape", {"x", "row"}, {"r"});
    b.node("Gemm", {"r", "w"}, {"t"}, "dense");
    return b;
  };
  EXPECT_EQ(problems(model("batch")), "");
  const std::string remedy = "; the model fixes a batch of 1 here, and the batch is 2: convert it with ";
  const auto by_symbol = problems(model("batch"), {.dimensions = {{"batch", 2}}});
  EXPECT_TRUE(contains(by_symbol,
                       "node \"flat\" (Reshape, opset 17): its new shape {1, 5} has 5 elements, not the 10 of its "
                       "input {2, 5}" +
                           remedy + "-d batch=1, or export it with a free batch\n"))
      << by_symbol;
  for (const char* node : {"\"join\" (Concat", "\"dense\" (Gemm"}) EXPECT_TRUE(contains(by_symbol, node)) << by_symbol;
  EXPECT_FALSE(contains(by_symbol, "--outputs")) << by_symbol;
  EXPECT_TRUE(contains(problems(model("batch"), {.inputs = {{"x", {2, 5}}}}), remedy + "-i x:1x5, or")) << by_symbol;
  EXPECT_TRUE(contains(problems(model("2")), remedy + "-i x:1x5, or"));
}

/// A problem that a batch of 1 has, too, is another one.
TEST(Batch, OtherProblemsAreNotOfTheBatch) {
  builder b;
  b.symbolic_input("x", {"batch", "5"}).output("y").output("z").ints("one", {1, 5});
  b.node("Reshape", {"x", "one"}, {"y"}, "flat");
  b.node("NonZero", {"x"}, {"z"}, "places");
  const auto text = problems(b, {.dimensions = {{"batch", 2}}});
  EXPECT_TRUE(contains(text, "\"places\" (NonZero, opset 17): the operator is not supported; \n")) << text;
  EXPECT_TRUE(contains(text, "convert it with -d batch=1")) << text;
}

/// Outputs whose shapes the model declares otherwise: the second picture would vanish, or lie behind the first.
TEST(Batch, OutputsWithoutAllFramesOfTheBatch) {
  const auto resized = [](const std::vector<std::string>& x, const std::vector<std::string>& y) {
    builder b;
    b.symbolic_input("x", x).output("y", y).ints("sizes", {1, 4, 12, 12});
    set(b.node("Resize", {"x", "", "", "sizes"}, {"y"}, "up"), "mode", "nearest");
    return b;
  };
  const conversion two{.dimensions = {{"batch", 2}}};
  const auto text = problems(resized({"batch", "4", "6", "6"}, {"batch", "4", "12", "12"}), two);
  EXPECT_TRUE(contains(text,
                       "output \"y\" (, opset 0): frames of its batch of 2 are lost or mixed: it is {1, 4, 12, 12}, and the "
                       "model declares {batch, 4, 12, 12}, \"batch\" is 2; node \"up\" (Resize) makes {1, 4, 12, 12} of "
                       "{2, 4, 6, 6}; the model fixes a batch of 1 here, and the batch is 2: convert it with -d batch=1"))
      << text;
  EXPECT_EQ(problems(resized({"batch", "4", "6", "6"}, {"batch", "4", "12", "12"})), "") << "a batch of 1";
  EXPECT_NE(problems(resized({"2", "4", "6", "6"}, {"2", "4", "12", "12"})), "") << "fixed";
  const auto merged = [](const std::vector<std::string>& y) {
    builder b;
    b.symbolic_input("x", {"batch", "4", "6", "6"}).output("y", y).ints("to", {1, -1});
    b.node("Reshape", {"x", "to"}, {"r"});
    b.node("Softmax", {"r"}, {"y"});
    return b;
  };
  for (const auto& y : {std::vector<std::string>{"batch", "144"}, {"2", "144"}, {"1", "144"}, {"batch", "n"}})
    EXPECT_TRUE(contains(problems(merged(y), two), "frames of its batch of 2 are lost or mixed: it is {1, 288}")) << y[0];
  EXPECT_EQ(problems(merged({"batch", "144"})), "");
  builder divided;  // each frame becomes two rows
  divided.symbolic_input("x", {"batch", "6"}).output("y", {"batch", "3"}).ints("to", {-1, 3});
  divided.node("Reshape", {"x", "to"}, {"y"});
  EXPECT_TRUE(contains(problems(divided, two), "frames of its batch of 2 are lost or mixed: it is {4, 3}"))
      << problems(divided, two);
  auto with_other = resized({"batch", "4", "6", "6"}, {"batch", "4", "12", "12"});
  with_other.input("scale", {1, 1});  // whatever other inputs have
  EXPECT_TRUE(contains(problems(with_other, two), "convert it with -d batch=1")) << problems(with_other, two);
  // The batch may be another axis.
  builder t;
  t.symbolic_input("x", {"batch", "3"}).output("y", {"3", "batch"});
  t.node("Transpose", {"x"}, {"y"});
  EXPECT_EQ(result(convert(t, two)), (shape{3, 2}));
  EXPECT_TRUE(convert(t, two).notes.empty());
}

/// Declared shapes are often those of the export, or guesses: what loses no frame is converted, with a warning.
TEST(Batch, OtherDeclaredShapesAreWarnings) {
  const auto notes = [](const std::vector<std::string>& x, const std::vector<std::string>& y,
                        const conversion& settings = {}) {
    builder b;
    b.symbolic_input("x", x).output("y", y);
    set(b.node("MaxPool", {"x"}, {"y"}), "kernel_shape", {2, 2});
    const auto net = convert(b, settings);
    return net.notes.empty() ? std::string() : net.notes[0];
  };
  using dims = std::vector<std::string>;
  const dims x{"batch", "1", "H", "4"};
  const conversion two{.dimensions = {{"batch", 2}, {"H", 6}}}, one{.dimensions = {{"H", 6}}};
  for (const auto& y : {dims{"batch", "1", "5", "3"}, {"n", "1", "", "3"}, {"1", "1", "5", "3"}, {}}) {
    EXPECT_EQ(notes(x, y, two), "");
    EXPECT_EQ(notes(x, y, one), "");
  }
  EXPECT_EQ(notes(x, {"batch", "1", "H", "3"}, two),
            "output \"y\": it is {2, 1, 5, 3}, and the model declares {batch, 1, H, 3}, \"H\" is 6");
  EXPECT_EQ(notes(x, {"batch", "1", "2", "3"}, one),
            "output \"y\": it is {1, 1, 5, 3}, and the model declares {batch, 1, 2, 3}");
  EXPECT_EQ(notes(x, {"batch", "15"}, one), "output \"y\": it is {1, 1, 5, 3}, and the model declares {batch, 15}");
  EXPECT_EQ(notes({"1", "1", "6", "4"}, {"1", "1", "5", "3"}, {.inputs = {{"x", {2, 1, 9, 9}}}}), "") << "another input";
  builder b;  // no frame depends on the batch, or all do
  b.symbolic_input("x", {"batch", "3"}).output("y").ints("axes", {0});
  b.node("ReduceSum", {"x", "axes"}, {"y"}, "sum");
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-q", "-d", "batch=2", "-o", folder.path});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err,
            "onnx2hpp: warning: output \"y\": it is {1, 3}, although the batch is 2: does it have all frames? node "
            "\"sum\" (ReduceSum) makes {1, 3} of {2, 3}\n");
  EXPECT_EQ(tool({folder.path / "net.onnx", "-q", "-o", folder.path}).err, "");
}

}  // namespace
}  // namespace onnx2hpp_test
