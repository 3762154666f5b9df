// If whose condition the model's constants decide. Expected values follow from ONNX's description of the operator, by hand.
#include "control_flow.hpp"
#include "run_tool.hpp"

namespace onnx2hpp_test {
namespace {

builder choice(const std::string& condition, const onnx::GraphProto& yes, const onnx::GraphProto& no, int opset = 17) {
  builder b(opset);
  b.input("x", {1, 3}).output("y");
  auto& n = b.node("If", {condition}, {"y"}, "choice");
  set_graph(n, "then_branch", yes);
  set_graph(n, "else_branch", no);
  return b;
}
TEST(If, TakesTheBranchThatAConstantChooses) {
  for (const bool holds : {true, false}) {
    auto b = choice("c", one_node("Relu"), one_node("Neg"));
    bool_constant(b, "c", holds);
    EXPECT_EQ(operators(convert(b)), holds ? "Relu" : "Neg");
    EXPECT_EQ(y_of(b), holds ? (floats{0, 2, 3}) : (floats{1, -2, -3}));
    EXPECT_EQ(convert(b, {.fold = false}).layers.size(), 4u) << "the branch's node and an Identity";
  }
}

/// As PyTorch's exporters write `if x.shape[1] == 3`; the model's nodes need not be in order.
TEST(If, ByAConditionThatFollowsFromShapes) {
  for (const int extent : {3, 4}) {
    auto b = choice("c", one_node("Relu"), one_node("Neg"));
    whole_number(whole_number(b, "one", 1), "three", extent);
    b.node("Shape", {"x"}, {"shape"});
    set(b.node("Gather", {"shape", "one"}, {"extent"}), "axis", 0);
    b.node("Equal", {"extent", "three"}, {"c"});
    EXPECT_EQ(operators(convert(b)), extent == 3 ? "Relu" : "Neg");
  }
}

TEST(If, ReadsWhatIsAroundItAndItsOwnConstants) {
  auto b = choice("c",
                  inner_graph({}, {"o"},
                              [](builder& g) {
                                g.floats("k", {1, 3}, {1, 2, 3});
                                g.node("Add", {"r", "k"}, {"t"});
                                g.node("Mul", {"t", "w"}, {"o"});
                              }),
                  one_node("Neg"));
  bool_constant(b, "c", true).floats("w", {1}, {10}).node("Relu", {"x"}, {"r"});
  EXPECT_EQ(y_of(b), (floats{10, 40, 60}));
}

/// A value of the graph around it, a constant, and one value twice.
TEST(If, GivesWhatItDoesNotCompute) {
  builder b;
  b.input("x", {1, 3}).output("y").output("z").output("s");
  bool_constant(b, "c", true);
  auto& n = b.node("If", {"c"}, {"v", "w", "y", "z"});
  set_graph(n, "then_branch",
            inner_graph({}, {"x", "k", "o", "o"}, [](builder& g) { g.floats("k", {1}, {5}).node("Neg", {"x"}, {"o"}); }));
  set_graph(n, "else_branch", inner_graph({}, {"x", "x", "x", "x"}, [](builder&) {}));
  b.node("Add", {"v", "w"}, {"s"});
  ASSERT_EQ(problems(b), "");
  const auto all = computed(convert(b), {{"x", three_numbers}});
  EXPECT_EQ(all.at("s"), (floats{4, 7, 8}));
  EXPECT_EQ(all.at("y"), (floats{1, -2, -3}));
  EXPECT_EQ(all.at("z"), (floats{1, -2, -3}));
}

/// Both branches, and several Ifs, may use the same names inside, also one that a value has from then on.
TEST(If, NamesStayApart) {
  builder b;
  b.input("x", {1, 3}).output("y");
  bool_constant(b, "c", true).node("Neg", {"x"}, {"first/o"});
  const auto branch = [](const std::string& in) {
    return inner_graph({}, {"o"}, [&](builder& g) {
      g.node("Relu", {in}, {"t"}, "n");
      g.node("Add", {"t", "first/o"}, {"o"}, "m");
    });
  };
  for (const auto& [name, in, out] : {std::tuple("first", "x", "p"), {"second", "p", "y"}}) {
    auto& n = b.node("If", {"c"}, {out}, name);
    set_graph(n, "then_branch", branch(in));
    set_graph(n, "else_branch", branch(in));
  }
  EXPECT_EQ(y_of(b), (floats{2, -2, -3}));
  const auto net = convert(b);
  EXPECT_EQ(net.layers[2].onnx_name, "first/n");
  EXPECT_EQ(net.layers[4].onnx_name, "second/n");
}

TEST(If, Nested) {
  for (const bool inside : {true, false}) {
    const auto inner = inner_graph({}, {"o"}, [&](builder& g) {
      g.node("Relu", {"x"}, {"r"});
      g.node("Not", {"d"}, {"e"});
      auto& n = g.node("If", {"e"}, {"p"}, "inner");
      set_graph(n, "then_branch", one_node("Neg", "r"));
      set_graph(n, "else_branch", one_node("Exp", "r"));
      g.node("Add", {"p", "r"}, {"o"});
    });
    auto b = choice("c", inner, one_node("Neg"));
    bool_constant(bool_constant(b, "c", true), "d", !inside);
    EXPECT_EQ(operators(convert(b)), inside ? "Relu Neg Add" : "Relu Exp Add");
    EXPECT_EQ(problems(b), "");
  }
}

/// What only the other branch needs may be anything.
TEST(If, TheOtherBranchDoesNotMatter) {
  auto b = choice("c", one_node("Relu"), one_node("NonZero", "bad"));
  bool_constant(b, "c", true).node("TopK", {"x", "x"}, {"bad", ""});
  EXPECT_EQ(operators(convert(b)), "Relu");
}

/// Functions call, and have, graphs inside nodes.
TEST(If, InFunctions) {
  builder b;
  b.input("x", {1, 3}).output("y");
  bool_constant(b, "c", true);
  b.model.add_opset_import()->set_domain("f");
  auto& leaky = *b.model.add_functions();
  leaky.set_name("Leaky");
  leaky.set_domain("f");
  leaky.add_input("a");
  leaky.add_output("o");
  leaky.add_attribute("slope");
  leaky.add_opset_import()->set_version(17);
  auto& inner = *leaky.add_node();
  inner.set_op_type("LeakyRelu");
  inner.add_input("a");
  inner.add_output("o");
  auto& alpha = *inner.add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  alpha.set_ref_attr_name("slope");
  // Chosen(a, c, slope): then Leaky(-a; slope), else a
  auto& chosen = *b.model.add_functions();
  chosen.set_name("Chosen");
  chosen.set_domain("f");
  chosen.add_input("a");
  chosen.add_input("c");
  chosen.add_output("o");
  chosen.add_attribute("slope");
  chosen.add_opset_import()->set_version(17);
  auto& other = *chosen.add_opset_import();
  other.set_domain("f");
  other.set_version(1);
  auto& minus = *chosen.add_node();
  minus.set_op_type("Neg");
  minus.add_input("a");
  minus.add_output("m");
  auto& n = *chosen.add_node();
  n.set_op_type("If");
  n.set_name("if");
  n.add_input("c");
  n.add_output("o");
  set_graph(n, "then_branch", inner_graph({}, {"p"}, [](builder& g) {
              auto& call = g.node("Leaky", {"m"}, {"p"}, "call");
              call.set_domain("f");
              auto& a = *call.add_attribute();
              a.set_name("slope");
              a.set_type(onnx::AttributeProto::FLOAT);
              a.set_ref_attr_name("slope");
            }));
  set_graph(n, "else_branch", inner_graph({}, {"a"}, [](builder&) {}));
  for (const auto& [in, out, slope] : {std::tuple("x", "t", 0.5f), {"t", "y", 0.25f}}) {
    auto& call = b.node("Chosen", {in, "c"}, {out}, out);
    call.set_domain("f");
    set(call, "slope", slope);
  }
  EXPECT_EQ(y_of(b), (floats{-0.25f, 1, 1.5f}));
}

TEST(If, IsRefusedWhereItsConditionIsComputed) {
  auto b = choice("c", one_node("Relu"), one_node("Neg"));
  b.node("ReduceMax", {"x"}, {"most"});
  b.scalar("one", 1).node("Greater", {"most", "one"}, {"c"});
  expect_in(problems(b), "node \"choice\" (If, opset 17): its input \"c\" (condition) is computed at run time");
  auto two = choice("c", one_node("Relu"), one_node("Neg"));
  two.tensor("c", onnx::TensorProto::BOOL, {2}).set_raw_data("\1\1");
  expect_in(problems(two), "its condition has 2 elements, expected one");
  auto real = choice("c", one_node("Relu"), one_node("Neg"));
  real.scalar("c", 0.5f);
  expect_in(problems(real), "its condition holds FLOAT, not BOOL");
}

/// Functions may not call themselves, also not in a graph inside a node.
TEST(If, InAFunctionThatCallsItself) {
  builder b;
  b.input("x", {1, 3}).output("y");
  bool_constant(b, "c", true).node("F", {"x", "c"}, {"y"}, "call").set_domain("f");
  auto& f = *b.model.add_functions();
  f.set_name("F");
  f.set_domain("f");
  f.add_input("a");
  f.add_input("c");
  f.add_output("o");
  f.add_opset_import()->set_version(17);
  auto& n = *f.add_node();
  n.set_op_type("If");
  n.add_input("c");
  n.add_output("o");
  set_graph(n, "then_branch", inner_graph({}, {"p"}, [](builder& g) { g.node("F", {"a", "c"}, {"p"}).set_domain("f"); }));
  expect_in(problems(b), "nested over 64 deep, or a function calls itself in one; export the model without functions");
}

TEST(If, WhoseGraphIsDamaged) {
  const auto damaged = [](const strings& one, const strings& two) {
    auto b = choice("c",
                    inner_graph({}, {"o"},
                                [&](builder& g) {
                                  g.node("Neg", {one[0]}, {one[1]}, "one");
                                  g.node("Neg", {two[0]}, {two[1]}, "two");
                                }),
                    one_node("Neg"));
    bool_constant(b, "c", true);
    return problems(b);
  };
  expect_in(damaged({"x", "o"}, {"x", "o"}),
            "node \"choice/two\" (Neg, opset 17): its output \"choice/o\" is also the output of another node");
  const auto text = damaged({"b", "o"}, {"o", "b"});
  expect_in(text, "node \"choice/one\" (Neg, opset 17): it depends on its own output; export the model again");
  EXPECT_FALSE(contains(text, "no node produces")) << text;
}

/// Where the branch has an operator that is not supported, the network can end within the branch.
TEST(If, CanBeCutWithinABranch) {
  const auto branch = inner_graph({}, {"o"}, [](builder& g) {
    g.node("Relu", {"x"}, {"r"});
    g.node("Exp", {"r"}, {"e"});
    g.node("NonZero", {"e"}, {"o"}, "where");
  });
  auto b = choice("c", branch, one_node("Neg"));
  bool_constant(b, "c", true);
  const auto text = problems(b);
  expect_in(text, "node \"choice/where\" (NonZero, opset 17): the operator is not supported");
  expect_in(text, "--outputs choice/e");
  EXPECT_EQ(operators(convert(b, {.outputs = {"choice/e"}})), "Relu Exp");
}

}  // namespace
}  // namespace onnx2hpp_test
