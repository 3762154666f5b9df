// If, Loop and Scan whose course the model's constants decide. Expected values follow from ONNX's descriptions of these
// operators, by hand.
#include "computed.hpp"
#include "run_tool.hpp"

#include <functional>

namespace onnx2hpp_test {
namespace {

using strings = std::vector<std::string>;

/// A graph inside a node: `make` adds its nodes.
onnx::GraphProto inner_graph(const strings& inputs, const strings& outputs, const std::function<void(builder&)>& make) {
  builder b;
  for (const auto& i : inputs) b.graph().add_input()->set_name(i);
  for (const auto& o : outputs) b.output(o);
  make(b);
  return b.graph();
}
void set_graph(onnx::NodeProto& n, const std::string& name, const onnx::GraphProto& value) {
  auto* a = n.add_attribute();
  a->set_name(name), a->set_type(onnx::AttributeProto::GRAPH);
  *a->mutable_g() = value;
}

builder& bool_constant(builder& b, const std::string& name, bool value) {
  b.tensor(name, onnx::TensorProto::BOOL, {}).set_raw_data(value ? "\1" : std::string(1, '\0'));
  return b;
}
builder& whole_number(builder& b, const std::string& name, std::int64_t value) {
  b.tensor(name, onnx::TensorProto::INT64, {}).set_raw_data(&value, 8);
  return b;
}
/// A branch with one node between a value around it and its output "o".
onnx::GraphProto one_node(const std::string& op, const std::string& in = "x") {
  return inner_graph({}, {"o"}, [&](builder& b) { b.node(op, {in}, {"o"}, "inner"); });
}
builder choice(const std::string& condition, const onnx::GraphProto& yes, const onnx::GraphProto& no, int opset = 17) {
  builder b(opset);
  b.input("x", {1, 3}).output("y");
  auto& n = b.node("If", {condition}, {"y"}, "choice");
  set_graph(n, "then_branch", yes), set_graph(n, "else_branch", no);
  return b;
}
const floats three_numbers{-1, 2, 3};

void expect_in(const std::string& text, const std::string& part) { EXPECT_TRUE(contains(text, part)) << text; }

floats y_of(const builder& b, const floats& x = three_numbers) {
  const auto found = problems(b);
  EXPECT_EQ(found, "");
  return found.empty() ? computed(convert(b), {{"x", x}}).at("y") : floats();
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
      g.node("Relu", {in}, {"t"}, "n"), g.node("Add", {"t", "first/o"}, {"o"}, "m");
    });
  };
  for (const auto& [name, in, out] : {std::tuple("first", "x", "p"), {"second", "p", "y"}}) {
    auto& n = b.node("If", {"c"}, {out}, name);
    set_graph(n, "then_branch", branch(in)), set_graph(n, "else_branch", branch(in));
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
      set_graph(n, "then_branch", one_node("Neg", "r")), set_graph(n, "else_branch", one_node("Exp", "r"));
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
  leaky.set_name("Leaky"), leaky.set_domain("f"), leaky.add_input("a"), leaky.add_output("o");
  leaky.add_attribute("slope");
  leaky.add_opset_import()->set_version(17);
  auto& inner = *leaky.add_node();
  inner.set_op_type("LeakyRelu"), inner.add_input("a"), inner.add_output("o");
  auto& alpha = *inner.add_attribute();
  alpha.set_name("alpha"), alpha.set_type(onnx::AttributeProto::FLOAT), alpha.set_ref_attr_name("slope");
  // Chosen(a, c, slope): then Leaky(-a; slope), else a
  auto& chosen = *b.model.add_functions();
  chosen.set_name("Chosen"), chosen.set_domain("f"), chosen.add_input("a"), chosen.add_input("c"), chosen.add_output("o");
  chosen.add_attribute("slope");
  chosen.add_opset_import()->set_version(17);
  auto& other = *chosen.add_opset_import();
  other.set_domain("f"), other.set_version(1);
  auto& minus = *chosen.add_node();
  minus.set_op_type("Neg"), minus.add_input("a"), minus.add_output("m");
  auto& n = *chosen.add_node();
  n.set_op_type("If"), n.set_name("if"), n.add_input("c"), n.add_output("o");
  set_graph(n, "then_branch", inner_graph({}, {"p"}, [](builder& g) {
              auto& call = g.node("Leaky", {"m"}, {"p"}, "call");
              call.set_domain("f");
              auto& a = *call.add_attribute();
              a.set_name("slope"), a.set_type(onnx::AttributeProto::FLOAT), a.set_ref_attr_name("slope");
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
  b.node("ReduceMax", {"x"}, {"most"}), b.scalar("one", 1).node("Greater", {"most", "one"}, {"c"});
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
  f.set_name("F"), f.set_domain("f"), f.add_input("a"), f.add_input("c"), f.add_output("o");
  f.add_opset_import()->set_version(17);
  auto& n = *f.add_node();
  n.set_op_type("If"), n.add_input("c"), n.add_output("o");
  set_graph(n, "then_branch", inner_graph({}, {"p"}, [](builder& g) { g.node("F", {"a", "c"}, {"p"}).set_domain("f"); }));
  expect_in(problems(b), "nested over 64 deep, or a function calls itself in one; export the model without functions");
}

TEST(If, WhoseGraphIsDamaged) {
  const auto damaged = [](const strings& one, const strings& two) {
    auto b = choice(
        "c",
        inner_graph({}, {"o"},
                    [&](builder& g) { g.node("Neg", {one[0]}, {one[1]}, "one"), g.node("Neg", {two[0]}, {two[1]}, "two"); }),
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
    g.node("Relu", {"x"}, {"r"}), g.node("Exp", {"r"}, {"e"}), g.node("NonZero", {"e"}, {"o"}, "where");
  });
  auto b = choice("c", branch, one_node("Neg"));
  bool_constant(b, "c", true);
  const auto text = problems(b);
  expect_in(text, "node \"choice/where\" (NonZero, opset 17): the operator is not supported");
  expect_in(text, "--outputs choice/e");
  EXPECT_EQ(operators(convert(b, {.outputs = {"choice/e"}})), "Relu Exp");
}

/// Loop with inputs (trip count, condition, state …) and a body (i, on, a) → (on', a', scanned …).
builder loop(const strings& inputs, const strings& outputs, const onnx::GraphProto& body, int opset = 17) {
  builder b(opset);
  b.input("x", {1, 3});
  for (const auto& o : outputs) b.output(o);
  set_graph(b.node("Loop", inputs, outputs, "loop"), "body", body);
  return b;
}
/// a' = 2 a + i
onnx::GraphProto doubling(const strings& outputs = {"on", "next"}) {
  return inner_graph({"i", "on", "a"}, outputs, [](builder& g) {
    set(g.node("Cast", {"i"}, {"real"}), "to", 1);
    g.scalar("two", 2).node("Mul", {"a", "two"}, {"twice"});
    g.node("Add", {"twice", "real"}, {"next"}, "sum");
  });
}

TEST(Loop, CarriesValues) {
  auto b = loop({"n", "", "x"}, {"y"}, doubling());
  whole_number(b, "n", 3);
  EXPECT_EQ(y_of(b), (floats{-4, 20, 28})) << "8 x + 4";
  EXPECT_EQ(convert(b).layers[2].onnx_name, "loop/0/sum") << "a node for each iteration";
}

TEST(Loop, StacksWhatEachIterationGives) {
  for (const int opset : {11, 13, 21}) {
    auto b = loop({"n", "c", "x"}, {"last", "y"}, doubling({"on", "next", "next"}), opset);
    bool_constant(whole_number(b, "n", 2), "c", true);
    ASSERT_EQ(problems(b), "");
    const auto net = convert(b);
    EXPECT_EQ(net.layers.back().result, (shape{2, 1, 3}));
    EXPECT_EQ(computed(net, {{"x", three_numbers}}).at("y"), (floats{-2, 4, 6, -3, 9, 13}));
  }
}

/// `while` with a counter: the condition follows from what is carried.
TEST(Loop, EndsByACondition) {
  const auto body = inner_graph({"i", "on", "a", "k"}, {"less", "next", "k2"}, [](builder& g) {
    whole_number(whole_number(g, "step", 3), "most", 7);
    g.node("Neg", {"a"}, {"minus"}), g.node("Add", {"minus", "x"}, {"next"});
    g.node("Add", {"k", "step"}, {"k2"}), g.node("Less", {"k2", "most"}, {"less"});
  });
  for (const bool begins : {true, false}) {
    auto b = loop({"", "c", "x", "zero"}, {"y", "count"}, body);
    b.graph().mutable_output()->RemoveLast();
    bool_constant(whole_number(b, "zero", 0), "c", begins);
    EXPECT_EQ(y_of(b), begins ? (floats{0, 0, 0}) : three_numbers) << "k = 3, 6, 9: three iterations; or none";
    EXPECT_EQ(operators(convert(b)), begins ? "Neg Add Neg Add Neg Add" : "");
  }
}

TEST(Loop, TripCountsFollowFromShapes) {
  auto b = loop({"n", "c", "x"}, {"y"}, doubling());
  bool_constant(b, "c", true).ints("one", {1}).node("Shape", {"x"}, {"shape"});
  set(b.node("Gather", {"shape", "one"}, {"n"}), "axis", 0);  // [3]
  EXPECT_EQ(y_of(b), (floats{-4, 20, 28}));
}

/// An inner Loop that runs as often as the outer one's index says, around an If.
TEST(Loop, Nested) {
  const auto inner = inner_graph({"j", "on2", "b"}, {"on2", "b2"}, [](builder& g) {
    whole_number(g, "first", 0).node("Equal", {"j", "first"}, {"is_first"});
    auto& n = g.node("If", {"is_first"}, {"d"});
    set_graph(n, "then_branch", one_node("Identity", "a")), set_graph(n, "else_branch", one_node("Identity", "w"));
    g.node("Add", {"b", "d"}, {"b2"});
  });
  const auto outer = inner_graph({"i", "on", "a"}, {"on", "next"}, [&](builder& g) {
    set_graph(g.node("Loop", {"i", "", "a"}, {"next"}, "inner"), "body", inner);
  });
  auto b = loop({"n", "", "x"}, {"y"}, outer);
  whole_number(b, "n", 3).floats("w", {1}, {100});
  // i = 0: a; i = 1: a + a; i = 2: a + a + 100
  EXPECT_EQ(y_of(b), (floats{96, 108, 112}));
}

/// TorchScript's lists: `out.append(a)` in a loop, then torch.stack(out, 1).
TEST(Loop, AppendsToAList) {
  const auto body = inner_graph({"i", "on", "a", "list"}, {"on", "twice", "longer"}, [](builder& g) {
    g.scalar("two", 2).node("Mul", {"a", "two"}, {"twice"}), g.node("SequenceInsert", {"list", "twice"}, {"longer"});
  });
  auto b = loop({"n", "", "x", "empty"}, {"last", "all"}, body);
  b.graph().clear_output();
  b.output("y");
  whole_number(whole_number(whole_number(b, "n", 3), "first", 0), "end", 2);
  b.node("SequenceEmpty", {}, {"empty"});
  b.node("SequenceErase", {"all", "first"}, {"later"}), b.node("SequenceInsert", {"later", "x", "first"}, {"with_x"});
  auto& join = b.node("ConcatFromSequence", {"with_x"}, {"y"});
  set(join, "axis", 1), set(join, "new_axis", 1);
  EXPECT_EQ(y_of(b), (floats{-1, 2, 3, -4, 8, 12, -8, 16, 24})) << "x, 4 x, 8 x";
  EXPECT_EQ(result(convert(b)), (shape{1, 3, 3}));
  b.graph().mutable_node(3)->set_input(2, "end");  // behind the last
  EXPECT_EQ(y_of(b), (floats{-4, 8, 12, -8, 16, 24, -1, 2, 3}));
}

TEST(Loop, ComputesConstants) {
  auto b = loop({"n", "", "k"}, {"sum"}, doubling());
  b.graph().clear_output();
  b.output("y");
  whole_number(b, "n", 2).floats("k", {1}, {1}).node("Add", {"x", "sum"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Add");
  EXPECT_EQ(y_of(b), (floats{4, 7, 8}));
}

TEST(Loop, IsRefusedWithAReason) {
  auto endless = loop({"", "c", "x"}, {"y"}, doubling());
  bool_constant(endless, "c", true);
  expect_in(problems(endless),
            "node \"loop\" (Loop, opset 17): it has more than 1000 iterations; each becomes "
            "nodes of its own; export the model with fewer iterations");
  auto computed_count = loop({"n", "", "x"}, {"y"}, doubling());
  set(computed_count.node("Cast", {"x"}, {"n"}), "to", onnx::TensorProto::INT64);
  expect_in(problems(computed_count), "its input \"n\" (trip count) is computed at run time, not constant");
  auto computed_end = loop({"n", "", "x"}, {"y"}, inner_graph({"i", "on", "a"}, {"less", "next"}, [](builder& g) {
                             g.node("Neg", {"a"}, {"next"}), g.node("ReduceMax", {"a"}, {"most"});
                             g.scalar("four", 4).node("Less", {"most", "four"}, {"less"});
                           }));
  whole_number(computed_end, "n", 5);
  expect_in(problems(computed_end), "whether it goes on after iteration 0 is computed at run time, not constant");
  auto empty = loop({"n", "", "x"}, {"last", "y"}, doubling({"on", "next", "next"}));
  whole_number(empty, "n", 0);
  expect_in(problems(empty), "it is empty, because the Loop has no iteration");
  auto never = loop({"n", "c", "x"}, {"last", "y"}, doubling({"on", "next", "next"}));
  bool_constant(whole_number(never, "n", 2), "c", false);
  expect_in(problems(never), "it is empty, because the Loop has no iteration");
  const auto wide = inner_graph({"i", "on", "a"}, {"on", "a"}, [&](builder& g) {
    set_graph(g.node("Loop", {"most", "", "a"}, {"b"}, "inner"), "body", doubling());
  });
  auto large = loop({"most", "", "x"}, {"y"}, wide);
  whole_number(large, "most", 999);
  EXPECT_EQ(operators(convert(large)), "") << "nobody reads what the inner Loop computes";
  auto huge = loop({"most", "", "x"}, {"y"}, inner_graph({"i", "on", "a"}, {"on", "b"}, [&](builder& g) {
                     set_graph(g.node("Loop", {"most", "", "a"}, {"b"}, "inner"), "body", doubling());
                   }));
  whole_number(huge, "most", 999);
  expect_in(problems(huge), "the graphs inside nodes would become more than 20000 nodes");
  auto other = loop({"n", "", "x"}, {"y"}, inner_graph({"i", "on"}, {"on", "x"}, [](builder&) {}));
  whole_number(other, "n", 1);
  expect_in(problems(other), "its graph has 2 inputs and 2 outputs, expected 3 and 2");
}

/// What each iteration copies is counted, also where no node needs it.
TEST(Loop, WithALargeBody) {
  const auto constants = [](builder& g) {
    for (int k = 0; k < 2000; ++k) g.scalar("k" + std::to_string(k), 1);
  };
  const auto numbers = [](builder& g) {
    set(g.node("Constant", {}, {"k"}), "value_ints", std::vector<std::int64_t>(200000));
  };
  const auto branch = [&](builder& g) {
    set_graph(g.node("If", {"on"}, {}), "then_branch", inner_graph({}, {}, constants));
  };
  for (const std::function<void(builder&)>& add : {std::function<void(builder&)>(constants), {numbers}, {branch}}) {
    auto b = loop({"n", "", "x"}, {"y"},
                  inner_graph({"i", "on", "a"}, {"on", "b"}, [&](builder& g) { g.node("Neg", {"a"}, {"b"}), add(g); }));
    expect_in(problems(whole_number(b, "n", 999)), "the graphs inside nodes stand for over 100000 nodes");
  }
}

/// Only the refused node is reported where the condition needs it, and the network can end before the Loop.
TEST(Loop, WhoseConditionNeedsWhatIsRefused) {
  auto b = loop({"n", "", "r"}, {"y"}, inner_graph({"i", "on", "a"}, {"less", "a"}, [](builder& g) {
                  g.node("NonZero", {"a"}, {"z"}, "where"), g.node("Less", {"z", "z"}, {"less"});
                }));
  whole_number(b, "n", 5).node("Relu", {"x"}, {"r"});
  const auto text = problems(b);
  expect_in(text, "(NonZero, opset 17)");
  expect_in(text, "--outputs r");
}

/// The sums of the rows so far, as in ONNX's example of Scan, and of their reverse.
TEST(Scan, SumsRows) {
  const auto body = inner_graph({"sum", "row"}, {"next", "shown"}, [](builder& g) {
    g.node("Add", {"sum", "row"}, {"next"}), g.node("Identity", {"next"}, {"shown"});
  });
  const auto scan = [&](int opset, const std::function<void(builder&, onnx::NodeProto&)>& more) {
    builder b(opset);
    b.input("x", {3, 2}).output("last").output("y").floats("zero", {2}, {0, 0});
    auto& n = b.node("Scan", {"zero", "x"}, {"last", "y"}, "scan");
    set_graph(n, "body", body), set(n, "num_scan_inputs", 1);
    more(b, n);
    EXPECT_EQ(problems(b), "");
    return computed(convert(b), {{"x", {1, 2, 3, 4, 5, 6}}});
  };
  for (const int opset : {9, 13, 23}) {
    const auto all = scan(opset, [](builder&, onnx::NodeProto&) {});
    EXPECT_EQ(all.at("last"), (floats{9, 12}));
    EXPECT_EQ(all.at("y"), (floats{1, 2, 4, 6, 9, 12}));
  }
  EXPECT_EQ(scan(13, [](builder&, onnx::NodeProto& n) { set_list(n, "scan_input_directions", {1}); }).at("y"),
            (floats{5, 6, 8, 10, 9, 12}));
  EXPECT_EQ(scan(13, [](builder&, onnx::NodeProto& n) { set_list(n, "scan_output_directions", {1}); }).at("y"),
            (floats{9, 12, 4, 6, 1, 2}));
  EXPECT_EQ(scan(13, [](builder&, onnx::NodeProto& n) { set_list(n, "scan_output_axes", {1}); }).at("y"),
            (floats{1, 4, 9, 2, 6, 12}));
  const auto columns = scan(13, [](builder& b, onnx::NodeProto& n) {
    set_list(n, "scan_input_axes", {-1});
    b.floats("none", {3}, {0, 0, 0}), n.set_input(0, "none");
  });
  EXPECT_EQ(columns.at("y"), (floats{1, 3, 5, 3, 7, 11}));
}

/// Before opset 9, with a batch: two sequences of two numbers.
/// Its rows are many, and no batch: what they are told is their own remedy.
TEST(Scan, OfTooManyRows) {
  builder b;
  b.input("x", {1200, 2}).output("last").floats("zero", {2}, {0, 0});
  auto& n = b.node("Scan", {"zero", "x"}, {"last"}, "scan");
  set_graph(n, "body", inner_graph({"sum", "row"}, {"next"}, [](builder& g) { g.node("Add", {"sum", "row"}, {"next"}); }));
  set(n, "num_scan_inputs", 1);
  const auto text = problems(b);
  expect_in(text, "fewer iterations");
  EXPECT_EQ(text.find("batch"), std::string::npos) << text;
}

TEST(Scan, OfABatch) {
  builder b(8);
  b.input("x", {2, 2, 1}).output("last").output("y").floats("zero", {2, 1}, {0, 10});
  auto& n = b.node("Scan", {"", "zero", "x"}, {"last", "y"}, "scan");
  set(n, "num_scan_inputs", 1), set_list(n, "directions", {1});
  set_graph(n, "body", inner_graph({"sum", "row"}, {"next", "next"}, [](builder& g) {
              g.node("Add", {"sum", "row"}, {"next"});
            }));
  ASSERT_EQ(problems(b), "");
  const auto all = computed(convert(b), {{"x", {1, 2, 3, 4}}});
  EXPECT_EQ(all.at("last"), (floats{3, 17}));
  EXPECT_EQ(all.at("y"), (floats{2, 3, 14, 17}));
  b.ints("padded", {1, 2}).ints("full", {2, 2});
  b.graph().mutable_node(0)->set_input(0, "padded");
  expect_in(problems(b), "its sequences are padded");
  b.graph().mutable_node(0)->set_input(0, "full");
  EXPECT_EQ(problems(b), "");
}

/// Each part of x times its own factor, plus x.
TEST(SequenceMap, OfParts) {
  builder b;
  b.input("x", {2, 2}).output("y").floats("one", {1}, {1}).floats("ten", {1}, {10});
  b.node("SplitToSequence", {"x"}, {"rows"}), b.node("SequenceConstruct", {"one", "ten"}, {"factors"});
  auto& n = b.node("SequenceMap", {"rows", "factors", "x"}, {"sums"}, "map");
  set_graph(n, "body", inner_graph({"row", "factor", "all"}, {"o"}, [](builder& g) {
              g.node("Mul", {"row", "factor"}, {"p"}), g.node("Add", {"p", "all"}, {"o"});
            }));
  set(b.node("ConcatFromSequence", {"sums"}, {"y"}), "axis", 0);
  ASSERT_EQ(problems(b), "");
  EXPECT_EQ(computed(convert(b), {{"x", {1, 2, 3, 4}}}).at("y"), (floats{2, 4, 4, 6, 31, 42, 33, 44}));
  b.graph().mutable_node(1)->add_input("one");
  expect_in(problems(b), "its sequences differ in length");
}

}  // namespace
}  // namespace onnx2hpp_test
