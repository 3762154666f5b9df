// What importers declare: every attribute is read at the first and last opset that has it, and the notes name the layers
// that an operator becomes.
#include "graph/registry.hpp"
#include "convert_model.hpp"
#include "run_tool.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace onnx2hpp_test {
namespace {

using strings = std::vector<std::string>;
using ints = std::vector<std::int64_t>;

/// An operator's inputs from an opset on, other than "x" alone, and the attributes that ONNX requires then.
struct form {
  const char* op;
  int from;
  strings inputs, required{};
};
const form forms[] = {{"Add", 7, {"x", "x2"}},
                      {"And", 7, {"mask", "b"}},
                      {"Attention", 23, {"x", "x2", "x2"}},
                      {"AveragePool", 7, {"x"}, {"kernel_shape"}},
                      {"BatchNormalization", 7, {"x", "c", "c", "c", "c"}},
                      {"Cast", 7, {"x"}, {"to"}},
                      {"Clip", 11, {"x", "n", "n"}},
                      {"CastLike", 15, {"x", "c"}},
                      {"Concat", 7, {"x", "x2"}, {"axis"}},
                      {"ConcatFromSequence", 11, {"parts_of_x"}, {"axis"}},
                      {"Constant", 7, {}, {"value"}},
                      {"Constant", 11, {}},
                      {"ConstantOfShape", 9, {"shape"}},
                      {"Conv", 7, {"x", "w", "c"}},
                      {"ConvTranspose", 7, {"x", "w", "c"}},
                      {"CumSum", 11, {"x", "i"}},
                      {"DepthToSpace", 7, {"x"}, {"blocksize"}},
                      {"DequantizeLinear", 10, {"q", "n"}},
                      {"Div", 7, {"x", "x2"}},
                      {"Einsum", 12, {"x", "x2"}, {"equation"}},
                      {"Equal", 7, {"x", "c"}},
                      {"Expand", 8, {"x", "wide"}},
                      {"Gather", 7, {"x", "zero"}},
                      {"GatherElements", 11, {"x", "elements"}},
                      {"GatherND", 11, {"x", "zero"}},
                      {"Gemm", 7, {"matrix", "m", "c"}},
                      {"Greater", 7, {"x", "c"}},
                      {"GreaterOrEqual", 12, {"x", "c"}},
                      {"GroupNormalization", 18, {"x", "g", "g"}, {"num_groups"}},
                      {"GroupNormalization", 21, {"x", "c", "c"}, {"num_groups"}},
                      {"If", 7, {"true"}, {"else_branch", "then_branch"}},
                      {"InstanceNormalization", 7, {"x", "c", "c"}},
                      {"LRN", 7, {"x"}, {"size"}},
                      {"LayerNormalization", 17, {"x", "c", "c"}},
                      {"Less", 7, {"x", "c"}},
                      {"LessOrEqual", 12, {"x", "c"}},
                      {"Loop", 7, {"i", "true", "x"}, {"body"}},
                      {"LpPool", 7, {"x"}, {"kernel_shape"}},
                      {"MatMul", 7, {"x", "m"}},
                      {"Max", 7, {"x", "x2"}},
                      {"MaxPool", 7, {"x"}, {"kernel_shape"}},
                      {"Mean", 7, {"x", "x2"}},
                      {"Min", 7, {"x", "x2"}},
                      {"Mod", 10, {"c", "c"}},
                      {"Mul", 7, {"x", "x2"}},
                      {"Not", 7, {"mask"}},
                      {"Or", 7, {"mask", "b"}},
                      {"PRelu", 7, {"x", "c"}},
                      {"Pad", 7, {"x"}, {"pads"}},
                      {"Pad", 11, {"x", "p", "n"}},
                      {"Pad", 18, {"x", "p", "n", "axes"}},
                      {"Pow", 7, {"x", "c"}},
                      {"QuantizeLinear", 10, {"x", "n"}},
                      {"RMSNormalization", 23, {"x", "c"}},
                      {"Range", 11, {"n", "n", "n"}},
                      {"ReduceL1", 18, {"x", "i"}},
                      {"ReduceL2", 18, {"x", "i"}},
                      {"ReduceLogSum", 18, {"x", "i"}},
                      {"ReduceLogSumExp", 18, {"x", "i"}},
                      {"ReduceMax", 18, {"x", "i"}},
                      {"ReduceMean", 18, {"x", "i"}},
                      {"ReduceMin", 18, {"x", "i"}},
                      {"ReduceProd", 18, {"x", "i"}},
                      {"ReduceSum", 13, {"x", "i"}},
                      {"ReduceSumSquare", 18, {"x", "i"}},
                      {"Reshape", 7, {"x", "shape"}},
                      {"Resize", 10, {"x", "f"}},
                      {"Resize", 11, {"x", "", "f"}},

                      {"Scan", 7, {"", "x", "x"}, {"body", "num_scan_inputs"}},
                      {"Scan", 9, {"x", "x"}, {"body", "num_scan_inputs"}},
                      {"Scatter", 9, {"x", "elements", "x2"}},
                      {"ScatterElements", 11, {"x", "elements", "x2"}},
                      {"ScatterND", 11, {"x", "zeros", "x2"}},
                      {"SequenceAt", 11, {"parts_of_x", "zero"}},
                      {"SequenceConstruct", 11, {"x", "x2"}},
                      {"SequenceEmpty", 11, {}},
                      {"SequenceErase", 11, {"parts_of_x", "zero"}},
                      {"SequenceInsert", 11, {"parts_of_x", "x", "zero"}},
                      {"SequenceLength", 11, {"parts_of_x"}},
                      {"SequenceMap", 17, {"parts_of_x", "x"}, {"body"}},
                      {"Slice", 7, {"x"}, {"starts", "ends"}},
                      {"Slice", 10, {"x", "zero", "i", "zero", "i"}},
                      {"SpaceToDepth", 7, {"x"}, {"blocksize"}},
                      {"Split", 7, {"x"}, {"axis"}},
                      {"Split", 13, {"x", "parts"}, {"axis"}},
                      {"SplitToSequence", 11, {"x", "parts"}, {"axis"}},
                      {"Squeeze", 13, {"x", "zero"}},
                      {"Sub", 7, {"x", "x2"}},
                      {"Sum", 7, {"x", "x2"}},
                      {"SwiGLU", 28, {"x", "x2"}},
                      {"Tile", 7, {"x", "double"}},
                      {"Trilu", 14, {"x", "i"}},
                      {"Unsqueeze", 7, {"x"}, {"axes"}},
                      {"Unsqueeze", 13, {"x", "i"}},
                      {"Upsample", 7, {"x"}, {"scales"}},
                      {"Upsample", 9, {"x", "f"}},
                      {"Where", 9, {"b", "x", "x2"}},
                      {"Xor", 7, {"mask", "b"}}};

/// A value that dice supports for each attribute: of one operator ("Pad.value"), or of all.
template <class T> std::function<void(onnx::NodeProto&, const std::string&)> is(T value) {
  return [=](onnx::NodeProto& n, const std::string& name) { set(n, name, value); };
}
void reals(onnx::NodeProto& n, const std::string& name) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOATS);
  for (const float v : {1.0f, 1.0f, 2.0f, 2.0f}) a->add_floats(v);
}
void one_tensor(onnx::NodeProto& n, const std::string& name) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  a->mutable_t()->add_dims(1);
  a->mutable_t()->add_float_data(2);
}
/// A graph of inputs and outputs alone.
std::function<void(onnx::NodeProto&, const std::string&)> graph_of(strings in, strings out) {
  return [=](onnx::NodeProto& n, const std::string& name) {
    auto* a = n.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    for (const auto& i : in) a->mutable_g()->add_input()->set_name(i);
    for (const auto& o : out) a->mutable_g()->add_output()->set_name(o);
  };
}
const std::map<std::string, std::function<void(onnx::NodeProto&, const std::string&)>> attribute_values{
    {"allowzero", is(1)},
    {"alpha", is(0.5f)},
    {"antialias", is(0)},
    {"approximate", is("tanh")},
    {"auto_pad", is("SAME_UPPER")},
    {"axes", is(ints{0})},
    {"Resize.axes", is(ints{0, 1, 2, 3})},
    {"axis", is(1)},
    {"batch_dims", is(0)},
    {"beta", is(0.5f)},
    {"bias", is(0.5f)},
    {"Loop.body", graph_of({"i", "on", "a"}, {"on", "a"})},
    {"Scan.body", graph_of({"a", "b"}, {"a", "b"})},
    {"SequenceMap.body", graph_of({"a", "b"}, {"a"})},
    {"block_size", is(0)},
    {"blocksize", is(2)},
    {"ceil_mode", is(1)},
    {"coordinate_transformation_mode", is("asymmetric")},
    {"count_include_pad", is(1)},
    {"cubic_coeff_a", is(-0.5f)},
    {"dilations", is(ints{1, 1})},
    {"directions", is(ints{0})},
    {"else_branch", graph_of({}, {"x or k"})},
    {"end", is(2)},
    {"dtype", is(1)},
    {"ends", is(ints{1})},
    {"epsilon", is(0.5f)},
    {"equation", is("abcd,abde->abce")},
    {"exclude_outside", is(1)},
    {"exclusive", is(1)},
    {"extrapolation_value", is(0.5f)},
    {"fmod", is(1)},
    {"gamma", is(0.5f)},
    {"group", is(1)},
    {"is_causal", is(1)},
    {"keep_aspect_ratio_policy", is("stretch")},
    {"keepdims", is(0)},
    {"kernel_shape", is(ints{2, 2})},
    {"kv_num_heads", is(4)},
    {"left_window_size", is(-1)},
    {"max", is(1.0f)},
    {"min", is(-1.0f)},
    {"mode", is("nearest")},
    {"DepthToSpace.mode", is("CRD")},
    {"Pad.mode", is("edge")},
    {"SpaceToDepth.mode", is("CRD")},
    {"momentum", is(0.5f)},
    {"nearest_mode", is("floor")},
    {"new_axis", is(1)},
    {"noop_with_empty_axes", is(1)},
    {"num_groups", is(2)},
    {"num_outputs", is(2)},
    {"num_scan_inputs", is(1)},
    {"output_dtype", is(1)},
    {"QuantizeLinear.output_dtype", is(3)},
    {"output_padding", is(ints{0, 0})},
    {"output_shape", is(ints{5, 5})},
    {"p", is(1)},
    {"pads", is(ints{0, 1, 0, 1})},
    {"Pad.pads", is(ints{0, 0, 0, 1, 0, 0, 0, 1})},
    {"perm", is(ints{0, 2, 1, 3})},
    {"precision", is(1)},
    {"q_num_heads", is(4)},
    {"qk_matmul_output_mode", is(0)},
    {"ratio", is(0.5f)},
    {"reduction", is("none")},
    {"reverse", is(1)},
    {"right_window_size", is(-1)},
    {"round_mode", is("up")},
    {"saturate", is(1)},
    {"scale", is(0.5f)},
    {"scales", reals},
    {"scan_input_axes", is(ints{0})},
    {"scan_input_directions", is(ints{0})},
    {"scan_output_axes", is(ints{0})},
    {"scan_output_directions", is(ints{0})},
    {"seed", is(1)},
    {"select_last_index", is(1)},
    {"size", is(3)},
    {"softcap", is(0.5f)},
    {"softmax_precision", is(1)},
    {"sparse_value", one_tensor},
    {"spatial", is(1)},
    {"split", is(ints{1, 3})},
    {"start", is(1)},
    {"starts", is(ints{0})},
    {"stash_type", is(1)},
    {"storage_order", is(1)},
    {"strides", is(ints{1, 1})},
    {"then_branch", graph_of({}, {"x or k"})},
    {"to", is(1)},
    {"training_mode", is(0)},
    {"transA", is(1)},
    {"transB", is(1)},
    {"upper", is(0)},
    {"value", one_tensor},
    {"Pad.value", is(0.5f)},
    {"value_float", is(0.5f)},
    {"value_floats", reals},
    {"value_int", is(1)},
    {"value_ints", is(ints{1, 2})},
    {"value_string", is("text")},
    {"value_strings", is("text")},
};

void give(onnx::NodeProto& n, const std::string& attribute) {
  const auto own = attribute_values.find(n.op_type() + "." + attribute);
  const auto value = own == attribute_values.end() ? attribute_values.find(attribute) : own;
  ASSERT_NE(value, attribute_values.end()) << "there is no value for it yet";
  value->second(n, attribute);
}

/// The operator's node with an attribute ("": none) besides those that it requires. `constant`: all its inputs are
/// constants.
builder model_of(const std::string& op, int opset, const std::string& attribute, bool constant) {
  builder b(opset);
  b.input("x", {1, 4, 4, 4}).input("x2", {1, 4, 4, 4}).input("matrix", {4, 4}).output("y");
  b.weights("k", {1, 4, 4, 4}).weights("m", {4, 4}).weights("w", {4, 4, 2, 2}).floats("c", {4}, {1, 2, 3, 4});
  b.floats("g", {2}, {1, 2}).floats("f", {4}, {1, 1, 2, 2}).scalar("n", 1).scalar("u", 1);
  b.ints("zero", {0})
      .ints("i", {1})
      .ints("wide", {2, 1, 1, 1})
      .ints("shape", {1, 4, 4, 4})
      .ints("double", {1, 1, 1, 2})
      .ints("p", {0, 0, 0, 1, 0, 0, 0, 1})
      .ints("axes", {0, 1, 2, 3})
      .ints("parts", {1, 3});
  const ints elements(64, 0), zeros{0};
  b.tensor("elements", onnx::TensorProto::INT64, {1, 4, 4, 4}).set_raw_data(elements.data(), 64 * 8);
  b.tensor("zeros", onnx::TensorProto::INT64, {1, 1}).set_raw_data(zeros.data(), 8);
  b.tensor("b", onnx::TensorProto::BOOL, {4}).set_raw_data("\1\0\1\0", 4);
  b.tensor("true", onnx::TensorProto::BOOL, {}).set_raw_data("\1");
  b.tensor("q", onnx::TensorProto::INT8, {4}).set_raw_data("\1\2\3\4");
  b.input("mask", {4}, onnx::TensorProto::BOOL);
  form of{op.c_str(), 7, {"x"}};
  for (const auto& f : forms)
    if (f.op == op && f.from <= opset) of = f;
  for (auto& i : of.inputs)
    if (constant && (i[0] == 'x' || i == "matrix" || i == "mask")) i = i == "matrix" ? "m" : i == "mask" ? "b" : "k";
  const bool makes_parts = op == "SequenceConstruct" || op == "SequenceEmpty" || op == "SequenceErase" ||
                           op == "SequenceInsert" || op == "SequenceMap" || op == "SplitToSequence";
  auto& n = b.node(op, of.inputs, op == "Split" ? strings{"y", "z"} : strings{makes_parts ? "parts_of_y" : "y"}, "n");
  for (const auto& a : of.required)
    if (a != attribute) give(n, a);
  if (!attribute.empty()) give(n, attribute);
  else if (op == "Constant" && of.required.empty()) give(n, "value");
  b.node("Identity", {constant ? "k" : "x"}, {"x or k"});
  b.node("SequenceConstruct", constant ? strings{"k", "k"} : strings{"x", "x2"}, {"parts_of_x"});
  if (op == "SequenceEmpty") b.node("SequenceInsert", {"parts_of_y", "k"}, {"one part"});
  if (makes_parts) b.node("SequenceAt", {op == "SequenceEmpty" ? "one part" : "parts_of_y", "zero"}, {"y"});
  return b;
}

TEST(Declarations, AreRead) {
  for (const auto& [name, known] : onnx2hpp::operators()) {
    ASSERT_GT(known.exists.first, 0) << name << " has a folder, but nothing declares it";
    EXPECT_FALSE(onnx2hpp::unread_operators().contains(name)) << name << " is read: take it out of unread_operators.cpp";
    std::map<std::string, onnx2hpp::opsets> all = known.attributes;
    all.emplace("", known.exists);
    for (const auto& [attribute, has] : all)
      for (const int opset : {std::max(has.first, onnx2hpp::first_opset), has.last})
        for (const bool constant : {false, true}) {
          if (!known.import && !(constant && known.fold)) continue;
          SCOPED_TRACE(name + " " + attribute + (constant ? ", of constants" : "") + ", opset " + std::to_string(opset));
          const auto found = problems(model_of(name, opset, attribute, constant));
          const std::string of = attribute.starts_with("value_string") ? "it is text" : "it is a constant of the model";
          if (!constant && name != "SequenceLength") EXPECT_EQ(found, "");
          else EXPECT_TRUE(found.starts_with("output \"y\" (, opset 0): " + of)) << found;
        }
  }
}

/// A note "… constant" stands for inputs that are refused as activations.
TEST(Declarations, NameConstantInputs) {
  for (const auto& [name, known] : onnx2hpp::operators()) {
    if (!known.import) continue;
    bool refused = false;
    auto b = model_of(name, known.exists.last, "", false);
    for (auto& input : *b.graph().mutable_node(0)->mutable_input()) {
      const auto before = input;
      input = "x";
      refused = refused || contains(problems(b), "is computed at run time");
      input = before;
    }
    EXPECT_EQ(refused, contains(known.notes + ";", " constant;")) << name;
  }
}

TEST(Declarations, NameTheLayers) {
  for (const auto& [name, known] : onnx2hpp::operators()) {
    if (!known.import || name == "SequenceLength" || known.notes.ends_with(" and others")) continue;
    for (const auto& l : convert(model_of(name, known.exists.last, "", false)).layers) {
      const auto made = l.op.onnx_name();
      if (is_input(l) || is_output(l) || made == name) continue;
      EXPECT_TRUE(contains(known.notes, made)) << name << " becomes " << made;
    }
  }
}

TEST(Declarations, AreListed) {
  const auto all = tool({"--list-operators"});
  EXPECT_EQ(all.code, 0);
  const auto lines = std::count(all.out.begin(), all.out.end(), '\n');
  EXPECT_GT(lines, 200);
  EXPECT_TRUE(contains(all.out,
                       "\nUpsample                   7–9     both         scales constant; at least 1; becomes Resize\n"
                       "    mode, scales (before 9)\n"))
      << all.out;
  EXPECT_TRUE(contains(all.out, "\nLSTM                       none    –            recurrence"));
  const auto two = tool({"--list-operators", "Relu,Erf"});
  EXPECT_EQ(two.out,
            "operator                   opsets  inputs       notes; attributes\n"
            "Erf                        9–28    both\n"
            "Relu                       7–28    both\n");
  const auto none = tool({"--list-operators=Relus"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "ONNX has no standard operator \"Relus\"; did you mean Relu?")) << none.err;
}

TEST(Declarations, RefusalsPointToThemOnce) {
  builder b;
  b.input("x", {1, 2}).input("x2", {1, 2}).output("y");
  b.node("Acosh", {"x"}, {"a"});
  b.node("Acosh", {"x2"}, {"b"});
  b.node("Foo", {"x2"}, {"c"});
  b.node("LSTM", {"a", "b", "c"}, {"y"});
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_TRUE(
      contains(done.err, "note: onnx2hpp --list-operators Acosh,LSTM prints what is read of them (docs/operators.md)"))
      << done.err;
  EXPECT_FALSE(contains(tool({folder.path / "net.onnx", "-q"}).err, "--list-operators"));
  builder one;
  one.input("x", {1, 2}).output("y");
  one.node("Sin", {"x"}, {"y"});
  EXPECT_TRUE(contains(tool({folder.save("net.onnx", one)}).err, "--list-operators Sin prints what is read of it (docs"));
}

/// Cycles, names used twice, tensors that nobody computes or reads: no list of operators helps.
TEST(Declarations, OtherErrorsDoNotPointToThem) {
  const scratch folder;
  const auto base = [] {
    builder b;
    b.input("x", {1, 2}).output("y");
    return b;
  };
  auto cycle = base(), twice = base(), nobody = base(), damaged = base(), text = base(), name = base();
  cycle.node("Add", {"x", "y"}, {"y"});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Tanh", {"x"}, {"y"});
  nobody.node("Relu", {"z"}, {"y"});
  damaged.floats("c", {2}, {1}).node("Add", {"x", "c"}, {"y"});
  text.tensor("c", onnx::TensorProto::STRING, {2});
  text.node("Add", {"x", "c"}, {"y"});
  name.node("Relu", {"x"}, {"x"});
  name.node("Relu", {"x"}, {"y"});
  for (const auto* b : {&cycle, &twice, &nobody, &damaged, &text, &name}) {
    const auto done = tool({folder.save("net.onnx", *b), "-o", folder.path});
    EXPECT_EQ(done.code, 1);
    EXPECT_FALSE(contains(done.err, "--list-operators")) << done.err;
  }
}

}  // namespace
}  // namespace onnx2hpp_test
