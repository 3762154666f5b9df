// Graphs as a whole: what is not used, the order of nodes, names.
#include "convert_model.hpp"

#include <string>
#include <vector>

namespace onnx2hpp_test {
namespace {

TEST(Graph, UnusedNodesVanishAndUnusedInputsStay) {
  builder b;
  b.input("x", {1, 2}).input("unused", {3}).output("y");
  b.node("Relu", {"x"}, {"y"});
  b.node("Unheard", {"x"}, {"nothing"});
  const auto net = convert(b);
  ASSERT_EQ(net.layers.size(), 4u);
  EXPECT_EQ(net.layers[1].onnx_name, "unused");
}

TEST(Graph, ACutLeavesOutTheInputsBehindIt) {
  builder b;
  b.input("x", {1, 2}).input("sizes", {2}, onnx::TensorProto::STRING).output("y");
  b.node("Relu", {"x"}, {"r"});
  b.node("NonMaxSuppression", {"r", "sizes"}, {"y"});
  EXPECT_NE(problems(b).find("its elements are STRING"), std::string::npos);
  const auto net = convert(b, {.outputs = {"r"}});
  ASSERT_EQ(net.layers.size(), 3u);
  EXPECT_EQ(net.layers[0].onnx_name, "x");
}

TEST(Graph, NamesMayBeEmpty) {
  builder b(12);
  b.input("x", {1, 2}).output("y").weights("", {2});
  b.node("Dropout", {"x"}, {"d", ""});
  b.node("Relu", {"d"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Relu");
}

TEST(Graph, OutputsThatAreInputsOrTheSameValue) {
  builder b;
  b.input("x", {1, 2}).output("x").output("y").output("z");
  b.node("Relu", {"x"}, {"y"});
  b.node("Identity", {"y"}, {"z"});
  const auto net = convert(b);
  ASSERT_EQ(net.layers.size(), 5u);
  EXPECT_EQ(net.layers[2].operands, (std::vector<int>{0}));
  EXPECT_EQ(net.layers[3].operands, net.layers[4].operands);
  builder c;
  c.input("x", {1}).output("w").weights("w", {2});
  EXPECT_NE(problems(c).find("constant of the model"), std::string::npos);
}

TEST(Graph, NodesInAnyOrder) {
  builder b;
  b.input("x", {1, 2}).output("y");
  b.node("Sigmoid", {"r"}, {"y"});
  b.node("Relu", {"x"}, {"r"});
  EXPECT_EQ(operators(convert(b)), "Relu Sigmoid");
  builder c;
  c.input("x", {1, 2}).output("y");
  c.node("Add", {"x", "b"}, {"a"});
  c.node("Relu", {"a"}, {"b"});
  c.node("Relu", {"b"}, {"y"});
  const auto text = problems(c);
  EXPECT_NE(text.find("depends on its own output"), std::string::npos);
  EXPECT_EQ(text.find("no node produces"), std::string::npos) << text;
}

}  // namespace
}  // namespace onnx2hpp_test
