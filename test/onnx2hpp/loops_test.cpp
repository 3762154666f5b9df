// Loop, Scan and SequenceMap whose course the model's constants decide. Expected values follow from ONNX's descriptions of
// these operators, by hand.
#include "control_flow.hpp"
#include "run_tool.hpp"

namespace onnx2hpp_test {
namespace {

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
    g.node("Neg", {"a"}, {"minus"});
    g.node("Add", {"minus", "x"}, {"next"});
    g.node("Add", {"k", "step"}, {"k2"});
    g.node("Less", {"k2", "most"}, {"less"});
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
    set_graph(n, "then_branch", one_node("Identity", "a"));
    set_graph(n, "else_branch", one_node("Identity", "w"));
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
    g.scalar("two", 2).node("Mul", {"a", "two"}, {"twice"});
    g.node("SequenceInsert", {"list", "twice"}, {"longer"});
  });
  auto b = loop({"n", "", "x", "empty"}, {"last", "all"}, body);
  b.graph().clear_output();
  b.output("y");
  whole_number(whole_number(whole_number(b, "n", 3), "first", 0), "end", 2);
  b.node("SequenceEmpty", {}, {"empty"});
  b.node("SequenceErase", {"all", "first"}, {"later"});
  b.node("SequenceInsert", {"later", "x", "first"}, {"with_x"});
  auto& join = b.node("ConcatFromSequence", {"with_x"}, {"y"});
  set(join, "axis", 1);
  set(join, "new_axis", 1);
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
                             g.node("Neg", {"a"}, {"next"});
                             g.node("ReduceMax", {"a"}, {"most"});
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
    auto b = loop({"n", "", "x"}, {"y"}, inner_graph({"i", "on", "a"}, {"on", "b"}, [&](builder& g) {
                    g.node("Neg", {"a"}, {"b"});
                    add(g);
                  }));
    expect_in(problems(whole_number(b, "n", 999)), "the graphs inside nodes stand for over 100000 nodes");
  }
}

/// Only the refused node is reported where the condition needs it, and the network can end before the Loop.
TEST(Loop, WhoseConditionNeedsWhatIsRefused) {
  auto b = loop({"n", "", "r"}, {"y"}, inner_graph({"i", "on", "a"}, {"less", "a"}, [](builder& g) {
                  g.node("NonZero", {"a"}, {"z"}, "where");
                  g.node("Less", {"z", "z"}, {"less"});
                }));
  whole_number(b, "n", 5).node("Relu", {"x"}, {"r"});
  const auto text = problems(b);
  expect_in(text, "(NonZero, opset 17)");
  expect_in(text, "--outputs r");
}

/// The sums of the rows so far, as in ONNX's example of Scan, and of their reverse.
TEST(Scan, SumsRows) {
  const auto body = inner_graph({"sum", "row"}, {"next", "shown"}, [](builder& g) {
    g.node("Add", {"sum", "row"}, {"next"});
    g.node("Identity", {"next"}, {"shown"});
  });
  const auto scan = [&](int opset, const std::function<void(builder&, onnx::NodeProto&)>& more) {
    builder b(opset);
    b.input("x", {3, 2}).output("last").output("y").floats("zero", {2}, {0, 0});
    auto& n = b.node("Scan", {"zero", "x"}, {"last", "y"}, "scan");
    set_graph(n, "body", body);
    set(n, "num_scan_inputs", 1);
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
    b.floats("none", {3}, {0, 0, 0});
    n.set_input(0, "none");
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
  set(n, "num_scan_inputs", 1);
  set_list(n, "directions", {1});
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
  b.node("SplitToSequence", {"x"}, {"rows"});
  b.node("SequenceConstruct", {"one", "ten"}, {"factors"});
  auto& n = b.node("SequenceMap", {"rows", "factors", "x"}, {"sums"}, "map");
  set_graph(n, "body", inner_graph({"row", "factor", "all"}, {"o"}, [](builder& g) {
              g.node("Mul", {"row", "factor"}, {"p"});
              g.node("Add", {"p", "all"}, {"o"});
            }));
  set(b.node("ConcatFromSequence", {"sums"}, {"y"}), "axis", 0);
  ASSERT_EQ(problems(b), "");
  EXPECT_EQ(computed(convert(b), {{"x", {1, 2, 3, 4}}}).at("y"), (floats{2, 4, 4, 6, 31, 42, 33, 44}));
  b.graph().mutable_node(1)->add_input("one");
  expect_in(problems(b), "its sequences differ in length");
}

}  // namespace
}  // namespace onnx2hpp_test
