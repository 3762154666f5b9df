// What the tool says of a model that cannot be converted, and where it says that the network can end.
#include "convert_model.hpp"
#include "run_tool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace onnx2hpp_test {
namespace {

TEST(Refusals, ListAllProblemsAtOnce) {
  builder b(11);
  b.input("x", {1, 3, 8, 8}).output("y").output("z").weights("w", {4, 3, 3, 3});
  b.node("Conv", {"x", "w"}, {"c"}, "fine");
  b.node("NonMaxSuppression", {"c"}, {"n"}, "boxes");
  b.node("TopK", {"n"}, {"t"}, "best");
  b.node("Gelu", {"c"}, {"g"}, "custom").set_domain("com.microsoft");
  auto& pad = b.node("Pad", {"c", "p"}, {"q"}, "round");
  set(pad, "mode", "circular");
  b.ints("p", {0, 0, 1, 1, 0, 0, 1, 1});
  b.node("Add", {"t", "g"}, {"y"});
  b.node("Relu", {"q"}, {"z"});
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path / "out"});
  EXPECT_EQ(done.code, 1);
  EXPECT_TRUE(
      contains(done.err, "onnx2hpp: error: node \"boxes\" (NonMaxSuppression, opset 11): the operator is not supported\n"))
      << done.err;
  EXPECT_TRUE(contains(done.err, "node \"best\" (TopK, opset 11)")) << done.err;
  EXPECT_TRUE(contains(done.err, "node \"custom\" (com.microsoft::Gelu): the domain \"com.microsoft\"")) << done.err;
  EXPECT_TRUE(contains(done.err, "node \"round\" (Pad, opset 11): its mode is \"circular\"")) << done.err;
  EXPECT_TRUE(contains(done.err,
                       "(4 problems)\nonnx2hpp: remedy: leave out what is refused; this keeps 1 of 7 nodes and "
                       "100 % of the weights: --outputs c\n"))
      << done.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path / "out"));
  EXPECT_EQ(tool({folder.path / "net.onnx", "--outputs", "c", "-o", folder.path / "out"}).code, 0) << "the remedy helps";
}

TEST(Refusals, WhatIsTriedForTheRemedyIsNotTold) {
  builder b;
  b.input("x", {1, 4}).input("z", {1, 4}).output("y");
  b.node("Relu", {"x"}, {"r"});
  b.node("TopK", {"z"}, {"t"});
  b.node("Add", {"r", "t"}, {"y"});
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_FALSE(contains(done.err, "is left out: no output needs it")) << done.err;  // z, of the network that ends at r
}

TEST(Refusals, NothingOfTheModelReachesTheTerminalUnescaped) {
  builder b;
  b.symbolic_input("in\x1b[2J", {"1", "H\x1b"}).input("x", {1}).output("y");
  b.node("Conv\x1b\n", {"x"}, {"y"}, "n\x7f\xc2\x9b").set_domain("d\r\xe2\x80\xae");
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_EQ(done.code, 1);
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 4) << done.err;
  for (char c : done.err) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << int{c};
}

TEST(Refusals, RemediesRunNothingInAShell) {
  const std::string name = "a'$(touch x)`touch x`";
  builder b;
  b.symbolic_input(name + "1", {"1", name}).symbolic_input(name + "2", {"N'$(touch x)", "4"}).output("y").output("z");
  b.node("Relu", {name + "2"}, {name});
  b.node("Sin", {name}, {"y"});
  b.node("Relu", {name + "1"}, {"z"});
  const std::string quoted = "a'\\''$(touch x)`touch x`";
  const scratch folder;
  const auto err = [&] { return tool({folder.save("net.onnx", b), "-o", folder.path}).err; };
  for (const auto& remedy : {"fix it with -d '" + quoted + "=NUMBER' or -i '" + quoted + "1:1xN'",
                             std::string("(-d 'N'\\''$(touch x)=NUMBER' sets another value)")})
    EXPECT_TRUE(contains(err(), remedy)) << err();
  b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(3);
  EXPECT_TRUE(contains(err(), ": --outputs '" + quoted + "',z\n")) << err();
}

TEST(Refusals, GoOnBehindAnUnsupportedOperator) {
  builder b;
  b.input("x", {1, 3, 8, 8}).output("y").weights("w", {4, 5, 3, 3});
  b.node("Sin", {"x"}, {"e"}, "first");
  b.node("Conv", {"e", "w"}, {"y"}, "second");
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_TRUE(contains(done.err, "\"first\"") &&
              contains(done.err, "\"second\" (Conv, opset 17): its weights {4, 5, 3, 3} do not fit"))
      << done.err;
}

TEST(Refusals, Versions) {
  const scratch folder;
  const auto err = [&](int opset, int ir) {
    builder b(opset, ir);
    b.input("x", {1}).output("y");
    b.node("Relu", {"x"}, {"y"});
    const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
    return std::to_string(done.code) + done.err;
  };
  EXPECT_TRUE(contains(err(6, 3), "the model uses opset 6; opsets 7 to 28 are supported"));
  EXPECT_TRUE(contains(err(29, 14), "the model uses opset 29"));
  EXPECT_TRUE(contains(err(7, 2), "IR version 2"));
  EXPECT_EQ(err(7, 3), "0");
  EXPECT_EQ(err(28, 14), "0");
  EXPECT_EQ(err(21, 15).rfind("0onnx2hpp: warning: the model has IR version 15", 0), 0u);
}

TEST(Refusals, InputsThatAreNotFloat32) {
  builder b;
  b.input("x", {1}, onnx::TensorProto::INT64).output("y");
  b.node("Relu", {"x"}, {"y"});
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_EQ(done.code, 1);
  EXPECT_TRUE(contains(done.err, "its input \"x\" holds INT64, and dice computes only with float32")) << done.err;
  auto& input = *b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  input.set_elem_type(onnx::TensorProto::STRING);
  const auto text = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_TRUE(contains(text.err, "input \"x\": its elements are STRING; frames are float32")) << text.err;
}

TEST(Refusals, ProblemsThatAreAlikeAreOneMessage) {
  builder b;
  b.input("x", {1, 4}).output("y");
  const auto refused = [&](const std::string& op, int count) {
    for (int k = 0; k < count; ++k) b.node(op, {"x"}, {op + std::to_string(k)}, op + " " + std::to_string(k));
    b.output(op + "0");
    for (int k = 1; k < count; ++k) b.output(op + std::to_string(k));
  };
  b.node("Relu", {"x"}, {"y"});
  refused("NonZero", 20);
  refused("Softplush", 2);
  for (const char* op : {"A", "B", "C", "D", "E", "F", "G", "H", "I"}) refused(op, 1);
  const scratch folder;
  const auto err = tool({folder.save("net.onnx", b), "-o", folder.path}).err;
  EXPECT_TRUE(contains(err, "\"NonZero 6\", \"NonZero 7\" and 12 more (NonZero, opset 17): the op")) << err;
  EXPECT_TRUE(contains(err, "error: nodes \"Softplush 0\", \"Softplush 1\" (Softplush, opset 17): the operator")) << err;
  EXPECT_TRUE(contains(err, "\"H 0\"") && !contains(err, "\"I 0\"")) << "at most ten messages: " << err;
  EXPECT_TRUE(contains(err, "cannot be converted (31 problems; -v prints all)")) << err;
  const auto all = tool({folder.path / "net.onnx", "-o", folder.path, "-v"}).err;
  EXPECT_TRUE(contains(all, "node \"NonZero 19\"") && contains(all, "node \"I 0\"") && contains(all, "(31 problems)"))
      << all;
}

TEST(Refusals, OtherReasonsAreOtherMessages) {
  builder b;
  b.input("x", {1, 4}).output("y").output("z").output("t");
  set(b.node("Relu", {"x"}, {"y"}, "a"), "slope", 1);
  b.node("Relu", {"x", "x"}, {"z"}, "b");
  set(b.node("Relu", {"x"}, {"t"}), "alpha", 1);
  const scratch folder;
  const auto err = tool({folder.save("net.onnx", b), "-o", folder.path}).err;
  EXPECT_TRUE(contains(err, "nodes \"a\", \"t\" (Relu, opset 17)") && contains(err, "node \"b\" (Relu, opset 17)")) << err;
}

TEST(Refusals, AllOpenDimensionsOfAnInputAreOneMessage) {
  builder b;
  b.symbolic_input("x", {"1", "3", "height", "", "height"}).symbolic_input("z", {"1", "h", "w"}).output("y");
  b.node("Relu", {"x"}, {"y"});
  const auto text = problems(b);
  EXPECT_TRUE(contains(text,
                       "its dimension 2 is the symbol \"height\", its dimension 3 is not known, its dimension 4 is the "
                       "symbol \"height\"; fix it with -i x:1x3xNxNxN\n"))
      << text;
  EXPECT_TRUE(contains(text, "fix it with -d h=NUMBER -d w=NUMBER or -i z:1xNxN\n")) << text;
}

/// "?" and N for all extents: only the first one becomes 1 by itself.
TEST(Refusals, OneSymbolForSeveralExtents) {
  builder b;
  b.symbolic_input("x", {"?", "1", "?", "?"}).output("y");
  b.node("Relu", {"x"}, {"y"});
  EXPECT_TRUE(contains(problems(b),
                       "its dimension 2 is the symbol \"?\", its dimension 3 is the symbol \"?\"; fix it with "
                       "-i x:1x1xNxN\n"))
      << problems(b);
  const auto& declared = b.graph().input(0).type().tensor_type().shape();
  EXPECT_EQ(declared.dim(0).dim_param(), "?");
  b.graph().clear_output();
  b.output("y", {"?", "1", "?", "?"});
  const auto asked = convert(b, {.inputs = {{"x", {2, 1, 3, 4}}}});
  EXPECT_EQ(result(asked), (shape{2, 1, 3, 4}));
  EXPECT_TRUE(asked.notes.empty());
  EXPECT_EQ(result(convert(b, {.dimensions = {{"?", 5}}})), (shape{5, 1, 5, 5})) << "asked for";
  builder n;  // the batch of one input, the height of another
  n.symbolic_input("x", {"N", "3"}).symbolic_input("z", {"1", "N"}).output("y").output("t");
  n.node("Relu", {"x"}, {"y"});
  n.node("Relu", {"z"}, {"t"});
  EXPECT_TRUE(contains(problems(n), "input \"z\" (, opset 0): its dimension 1 is the symbol \"N\"; fix it with -i z:1xN\n"));
  EXPECT_TRUE(contains(problems(n, {.inputs = {{"x", {4, 3}}}}), "-i z:1xN")) << "it says nothing about the other input";
  EXPECT_EQ(result(convert(n, {.inputs = {{"z", {1, 7}}}})), (shape{1, 7}));
  EXPECT_EQ(convert(n, {.inputs = {{"z", {1, 7}}}}).layers[0].result, (shape{1, 3}));
}

/// All nodes that have to be left out are named, also those behind another one.
TEST(Refusals, NamesNodesBehindARefusedOne) {
  builder b;
  b.input("x", {2, 2}).output("y");
  b.node("Relu", {"x"}, {"r"});
  b.node("Cosh", {"r"}, {"s"}, "first");
  b.node("Exp", {"s"}, {"e"});
  b.node("Cosh", {"e"}, {"t"}, "second");
  b.node("Tanh", {"t"}, {"y"});
  const auto text = problems(b);
  EXPECT_TRUE(contains(text, "node \"first\" (Cosh") && contains(text, "node \"second\" (Cosh")) << text;
  EXPECT_TRUE(contains(text, ": --outputs r")) << text;
}

TEST(Refusals, NameConstantsThatDoNotFit) {
  builder b;
  b.input("x", {1, 64, 8, 8}).output("y").weights("table", {63, 1, 1});
  b.node("Add", {"x", "table"}, {"y"});
  EXPECT_TRUE(contains(problems(b),
                       "the operands' shapes cannot be broadcast together (input {1, 64, 8, 8}, constant "
                       "\"table\" {63, 1, 1})"))
      << problems(b);
  builder g;
  g.input("x", {2, 5}).output("y").weights("w", {4, 3});
  g.node("Gemm", {"x", "w"}, {"y"});
  EXPECT_TRUE(contains(problems(g), "its input {2, 5} has 5 columns, its weights \"w\" {4, 3} expect 4")) << problems(g);
  builder m;
  m.input("x", {2, 5}).output("y").weights("w", {4, 3});
  m.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_TRUE(contains(problems(m), "its operands \"x\" {2, 5} and \"w\" {4, 3} do not fit")) << problems(m);
  builder c;
  c.input("x", {2, 5}).output("y").weights("token", {1, 5});
  set(c.node("Concat", {"x", "token"}, {"y"}), "axis", 1);
  EXPECT_TRUE(
      contains(problems(c), "its inputs \"x\" {2, 5} and \"token\" {1, 5} differ in rank, or on another axis than 1"))
      << problems(c);
}

/// The network that is left if the printed remedy is pasted: its operators, then its outputs.
std::string pasted(const builder& b) {
  const auto text = problems(b);
  const std::string option = ": --outputs ";
  const auto at = text.find(option);
  if (at == std::string::npos) return text;
  conversion settings;
  std::istringstream names(text.substr(at + option.size()));
  for (std::string name; std::getline(names, name, ',');) settings.outputs.push_back(name);
  const auto net = convert(b, settings);
  auto out = operators(net) + " ->";
  for (const auto& l : net.layers)
    if (is_output(l)) out += " " + l.onnx_name;
  return out;
}

TEST(Remedy, NamesAllThatTheRefusedNodeReads) {
  builder b(11);
  b.input("x", {1, 4, 4}).output("y");
  b.node("Sigmoid", {"x"}, {"boxes"});
  b.node("Tanh", {"x"}, {"scores"});
  b.node("NonMaxSuppression", {"boxes", "scores", "", "boxes"}, {"y"});
  EXPECT_EQ(pasted(b), "Sigmoid Tanh -> boxes scores");
}

/// Also what nodes behind them read, and graph outputs that do not depend on them.
TEST(Remedy, EndsBeforeAllRefusedNodesTogether) {
  builder b;
  b.input("x", {1, 4}).output("y").output("z").output("t").weights("w", {4, 4}).scalar("c", 2);
  b.node("MatMul", {"x", "w"}, {"a"});
  b.node("Relu", {"a"}, {"r"});
  b.node("NonZero", {"r"}, {"n"});
  b.node("Tanh", {"a"}, {"t"});
  b.node("Sigmoid", {"a"}, {"s"});
  b.node("Exp", {"s"}, {"e"});
  b.node("Hardmax", {"e"}, {"h"});
  b.node("TopK", {"h"}, {"k", "i"});
  b.node("Add", {"h", "c"}, {"y"});
  b.node("GatherND", {"s", "n"}, {"z"});
  EXPECT_EQ(pasted(b), "MatMul Relu Tanh Sigmoid Exp -> r t s e");
  EXPECT_TRUE(contains(problems(b), "this keeps 5 of 9 nodes and 100 % of the weights")) << problems(b);
}

TEST(Remedy, JoinsManyPartsOfOneTensor) {
  const auto with = [](int classes) {
    builder b;
    b.input("x", {1, 12, 4}).output("t").ints("axis", {1});
    b.node("Softmax", {"x"}, {"s"});
    b.node("Transpose", {"s"}, {"t"});
    for (int k = 0; k < classes; ++k) {
      const auto n = std::to_string(k);
      b.ints("b" + n, {k}).ints("e" + n, {k + 1}).output("y" + n);
      b.node("Slice", {"s", "b" + n, "e" + n, "axis"}, {"p" + n});
      b.node("NonZero", {"p" + n}, {"y" + n});
    }
    return b;
  };
  EXPECT_EQ(pasted(with(2)), "Softmax Transpose Slice Slice -> t p0 p1");
  EXPECT_EQ(pasted(with(12)), "Softmax Transpose -> t s");
}

/// Detectors ask of each class which scores are high, and read the scores at these places.
TEST(Remedy, ComparisonsAreReplacedByWhatTheyCompare) {
  const auto with = [](int classes, bool reads_scores) {
    builder b;
    b.input("x", {1, 12, 4}).ints("axis", {1}).scalar("low", 0.1f);
    b.node("Softmax", {"x"}, {"s"});
    for (int k = 0; k < classes; ++k) {
      const auto n = std::to_string(k);
      b.ints("i" + n, {k}).output("y" + n);
      set(b.node("Gather", {"s", "i" + n}, {"p" + n}), "axis", 1);
      b.node("Greater", {"p" + n, "low"}, {"high" + n});
      b.node("NonZero", {"high" + n}, {"n" + n});
      b.node("GatherND", {reads_scores ? "p" + n : "x", "n" + n}, {"y" + n});
    }
    return b;
  };
  EXPECT_EQ(pasted(with(2, true)), "Softmax Slice Slice -> p0 p1");
  EXPECT_EQ(pasted(with(12, true)), "Softmax -> s");
  EXPECT_EQ(pasted(with(12, false)), "Softmax -> s");
}

/// A detector moves the boxes of each class apart before NonMaxSuppression: what it computes for this alone is not needed.
TEST(Remedy, LeavesOutWhatFollowsFromOtherOutputs) {
  builder b;
  b.input("x", {1, 4}).output("y").output("best").scalar("c", 2).ints("axes", {0});
  b.node("Relu", {"x"}, {"boxes"});
  b.node("Tanh", {"x"}, {"kinds"});
  b.node("Neg", {"boxes"}, {"best"});
  b.node("Mul", {"kinds", "c"}, {"shift"});
  b.node("Add", {"boxes", "shift"}, {"apart"});
  b.node("Unsqueeze", {"apart", "axes"}, {"batch"});
  b.node("Exp", {"boxes"}, {"scores"});
  b.node("NonMaxSuppression", {"batch", "scores"}, {"n"});
  b.node("GatherND", {"boxes", "n"}, {"d"});
  b.node("ArgMax", {"scores"}, {"first"});
  b.node("GatherND", {"kinds", "n"}, {"e"});
  b.node("GatherND", {"first", "n"}, {"f"});
  b.node("Sum", {"d", "e", "f"}, {"y"});
  EXPECT_EQ(pasted(b), "Relu Tanh Neg Exp -> boxes kinds best scores");
}

onnx::GraphProto& subgraph(onnx::NodeProto& n, const char* attribute) {
  auto* a = n.add_attribute();
  a->set_name(attribute);
  a->set_type(onnx::AttributeProto::GRAPH);
  return *a->mutable_g();
}

/// What a subgraph reads of the graph around it, also two levels down; its own values are not meant.
TEST(Remedy, NamesWhatSubgraphsRead) {
  builder b;
  b.input("x", {1, 4}).output("y");
  b.node("Relu", {"x"}, {"a"});
  b.node("Tanh", {"x"}, {"own"});
  b.node("Exp", {"x"}, {"deep"});
  b.node("ReduceMax", {"x"}, {"m"});
  auto& n = b.node("If", {"m"}, {"y"});
  auto& branch = subgraph(n, "then_branch");
  const auto add = [](onnx::GraphProto& g, const char* op, const std::string& in, const std::string& out) {
    auto* made = g.add_node();
    made->set_op_type(op);
    made->add_input(in);
    made->add_output(out);
    g.add_output()->set_name(out);
    return made;
  };
  add(branch, "Neg", "a", "own");
  add(branch, "Neg", "own", "t");
  add(subgraph(*add(branch, "If", "t", "u"), "else_branch"), "Neg", "deep", "v");
  add(subgraph(n, "else_branch"), "Neg", "a", "w");
  EXPECT_EQ(pasted(b), "Relu Exp ReduceMax -> a deep m");
}

/// MaxUnpool needs places that dice's MaxPool does not tell.
TEST(Remedy, EndsBeforeANodeThatLacksAnOutput) {
  builder b;
  b.input("x", {1, 1, 4, 4}).output("y");
  b.node("Relu", {"x"}, {"r"});
  set(b.node("MaxPool", {"r"}, {"p", "i"}), "kernel_shape", {2, 2});
  b.node("MaxUnpool", {"p", "i"}, {"y"});
  EXPECT_EQ(pasted(b), "Relu -> r");
}

TEST(Remedy, AnInputThatIsNoFrameIsLeftOut) {
  builder b;
  b.input("x", {1, 4}).input("words", {1, 4}, onnx::TensorProto::INT64).output("y").output("z");
  b.node("Relu", {"x"}, {"y"});
  b.node("Gather", {"y", "words"}, {"z"});
  EXPECT_EQ(pasted(b), "Relu -> y");
}

TEST(Remedy, SaysIfLittleOrNothingIsLeft) {
  builder b;
  b.input("x", {1, 4}).output("y").weights("w", {4, 4}).weights("v", {4, 100});
  b.node("MatMul", {"x", "w"}, {"a"});
  b.node("Hardmax", {"a"}, {"h"});
  b.node("MatMul", {"h", "v"}, {"y"});
  EXPECT_TRUE(contains(problems(b),
                       "\nexport the model without what is refused; to leave it out would keep only 1 of 3 nodes and "
                       "4 % of the weights: --outputs a"))
      << problems(b);
  builder c;
  c.input("x", {1, 4}).output("y");
  c.node("Hardmax", {"x"}, {"y"});
  EXPECT_TRUE(contains(
      problems(c),
      "\nexport the model without what is refused: nothing of the network comes before it, so --outputs cannot help"));
}

/// Thresholds, sizes and places are no weights; tensors that cannot be read are.
TEST(Remedy, CountsWeightsOnly) {
  builder b(11);
  b.input("x", {1, 5, 4}).output("n").output("r").floats("threshold", {1}, {0.5f}).ints("most", {10});
  b.floats("scales", {3}, {1, 2, 2}).floats("roi", {2}, {0, 1});
  b.node("Relu", {"x"}, {"boxes"});
  b.node("Tanh", {"x"}, {"scores"});
  b.node("NonMaxSuppression", {"boxes", "scores", "most", "threshold"}, {"n"});
  set(b.node("Resize", {"boxes", "roi", "scales"}, {"r"}), "mode", "round");
  EXPECT_TRUE(contains(problems(b), "\nleave out what is refused; this keeps 2 of 4 nodes: --outputs boxes,scores"))
      << problems(b);
  builder c;
  c.input("x", {1, 4}).output("y").weights("w", {4, 4}).tensor("v", 19 /* FLOAT8E5M2 */, {4, 12});
  c.node("MatMul", {"x", "w"}, {"a"});
  c.node("MatMul", {"a", "v"}, {"y"});
  EXPECT_TRUE(contains(problems(c), "only 1 of 2 nodes and 25 % of the weights: --outputs a")) << problems(c);
}

TEST(Remedy, MayKeepAllNodes) {
  builder b;
  b.input("x", {1, 1, 4, 4}).output("y").output("places");
  set(b.node("MaxPool", {"x"}, {"y", "places"}), "kernel_shape", {2, 2});
  EXPECT_TRUE(problems(b).ends_with("\nleave out what is refused; this keeps all nodes: --outputs y")) << problems(b);
}

TEST(Remedy, OtherProblemsComeFirst) {
  builder b;
  b.symbolic_input("x", {"1", "n"}).output("y");
  b.node("Relu", {"x"}, {"r"});
  b.node("NonZero", {"r"}, {"y"});
  EXPECT_TRUE(contains(problems(b), "\nsolve the other problems first; then onnx2hpp says where")) << problems(b);
  builder c;
  c.input("x", {1, 4}).output("y").scalar("scale", 0.5f);
  c.node("QuantizeLinear", {"x", "scale"}, {"q"});
  c.node("DequantizeLinear", {"q", "scale"}, {"y"});
  const auto text = problems(c);
  EXPECT_TRUE(text.ends_with("export the model as it was before quantization\n")) << text;
}

}  // namespace
}  // namespace onnx2hpp_test
