// Turns ONNX's backend cases into networks of dice: conformance_prepare DATA OUT PARTS TITLE
//
// In OUT it writes header and weights of each case that onnx2hpp accepts, part_0.cpp … with their programs, and three lists
// (first line: TITLE): passing.txt, left_out.txt with reasons, and constants.txt for what onnx2hpp computes itself.
#include "cases.hpp"
#include "emit/emit.hpp"
#include "emit/sha256.hpp"
#include "graph/convert.hpp"
#include "graph/names.hpp"
#include "tolerance.hpp"

#include "dice/files/writer.hpp"
#include "dice/graph/ops/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

namespace {

using namespace conformance;
namespace fs = std::filesystem;

/// Leaves a file alone if it has this text already, so that what is compiled from it stays valid.
void write_file(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read_file(path) == text) return;
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string digest(const std::string& text) {
  onnx2hpp::sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

struct outcome {
  std::vector<int> kept{};  ///< inputs of the case that stay graph inputs
  std::string model_digest{};
  onnx2hpp::model model{};  ///< where the network's parameters lie
  std::optional<onnx2hpp::network> network{};
  std::vector<onnx2hpp::problem> problems{};
};

/// What onnx2hpp makes of a model; `file` is written, and must exist while the outcome is used.
outcome convert(const onnx::ModelProto& model, const fs::path& file) {
  outcome out;
  const auto bytes = model.SerializeAsString();
  out.model_digest = digest(bytes);
  write_file(file, bytes);
  try {
    out.model = onnx2hpp::load_model(file);
    out.network = onnx2hpp::convert(out.model, {}, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
    onnx2hpp::name_layers(*out.network);
  } catch (const onnx2hpp::conversion_error& e) {
    out.problems = e.problems;
  }
  return out;
}

outcome convert(const test_case& c, const std::vector<int>& kept, const fs::path& file) {
  outcome out;
  try {
    out = convert(frozen(c, kept), file);
  } catch (const std::exception& e) {  // the conversion of the opset
    out.problems = {{.reason = e.what()}};
  }
  out.kept = kept;
  return out;
}

/// Element types that are float32 in dice.
const std::vector<int> reals_of_dice = {onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE, onnx::TensorProto::FLOAT16};

bool is_empty(const onnx::ValueInfoProto& v) {
  return std::ranges::any_of(v.type().tensor_type().shape().dim(),
                             [](const auto& d) { return d.has_dim_value() && d.dim_value() == 0; });
}

/// Keeps as many of the first real inputs with elements as onnx2hpp accepts: those that must be constants (weights, limits)
/// come last.
outcome convert(const test_case& c, const fs::path& file) {
  std::vector<int> kept;
  for (std::size_t k = 0; k < c.inputs.size(); ++k)
    if (why_not(reals_of_dice, "input", c.inputs[k]).empty() && !is_empty(c.inputs[k])) kept.push_back(static_cast<int>(k));
  for (;; kept.pop_back()) {
    auto out = convert(c, kept, file);
    if (out.network || kept.size() <= 1) return out;
  }
}

/// The element types that each output of a network stands for.
std::vector<std::vector<int>> types_of_outputs(const onnx2hpp::network& net) {
  std::vector<std::vector<int>> out;
  for (const auto& l : net.layers)
    if (const auto* op = l.op.get_if<dice::ops::output>())
      out.push_back(op->number == dice::tensor::number::int64     ? std::vector<int>{onnx::TensorProto::INT64}
                    : op->number == dice::tensor::number::int32   ? std::vector<int>{onnx::TensorProto::INT32}
                    : op->number == dice::tensor::number::uint8   ? std::vector<int>{onnx::TensorProto::UINT8}
                    : op->number == dice::tensor::number::boolean ? std::vector<int>{onnx::TensorProto::BOOL}
                                                                  : reals_of_dice);
  return out;
}

/// Cases that onnx2hpp converts and whose expected results dice does not compute, and why.
const std::map<std::string, std::string> of_other_results = {
    {"node/test_resize_downsample_scales_cubic_align_corners",
     "Resize: ONNX's corners are not aligned if an extent was rounded; those of PyTorch, ONNX Runtime and dice are"},
    {"node/test_resize_downsample_scales_linear_align_corners",
     "Resize: ONNX's corners are not aligned if an extent was rounded; those of PyTorch, ONNX Runtime and dice are"}};

/// Why a case is left out: operators that dice does not have, element types, or onnx2hpp's first complaint about a node. ""
/// if the case is not left out.
std::string reason(const test_case& c, const outcome& o) {
  std::set<std::string> unknown, constants_only;
  for (const auto& p : o.problems) {
    if (p.reason == "the operator is not supported") unknown.insert(p.operator_name);
    if (p.reason.starts_with("the operator is supported on constants only")) constants_only.insert(p.operator_name);
  }
  if (!unknown.empty()) return fmt::format("operators not supported: {}", fmt::join(unknown, ", "));
  if (!constants_only.empty()) return fmt::format("supported on constants only: {}", fmt::join(constants_only, ", "));
  using tensor = onnx::TensorProto;
  if (o.kept.empty() && !c.inputs.empty()) {
    if (is_empty(c.inputs[0])) return "input " + c.inputs[0].name() + " has no elements";
    return why_not(reals_of_dice, "input", c.inputs[0]);
  }
  const auto types = o.network ? types_of_outputs(*o.network) : std::vector<std::vector<int>>();
  auto any = reals_of_dice;
  any.insert(any.end(), {tensor::INT64, tensor::INT32, tensor::UINT8, tensor::BOOL});
  for (std::size_t k = 0; const auto& v : c.model.graph().output()) {
    const auto why = why_not(o.network ? types.at(k++) : any, "output", v);
    if (!why.empty()) return why;
  }
  if (o.network) {
    const auto other = of_other_results.find(c.name);
    return other == of_other_results.end() ? "" : other->second;
  }
  for (const auto& p : o.problems)
    if (!p.operator_name.empty()) return p.operator_name + ": " + p.reason;
  const auto& p = o.problems.at(0);
  return p.node.empty() ? p.reason : p.node + ": " + p.reason;
}

/// With all inputs as constants: `equal` if onnx2hpp itself computes the expected outputs, what differs, or "" if it does
/// not compute them. An output becomes the constant of an Add layer.
std::string fold(const test_case& c, const fs::path& file) {
  const auto& outputs = c.model.graph().output();
  auto model = c.model;
  try {
    model = frozen(c, {});
  } catch (const std::exception&) {
    return "";
  }
  auto& graph = *model.mutable_graph();
  graph.clear_output();
  const auto add_node = [&](const std::string& operator_name, const std::vector<std::string>& in, const std::string& out) {
    auto& n = *graph.add_node();
    n.set_op_type(operator_name);
    for (const auto& name : in) n.add_input(name);
    n.add_output(out);
    return &n;
  };
  for (int k = 0; k < outputs.size(); ++k) {
    auto& expected = *graph.add_initializer();
    expected = read_tensor(c, fmt::format("output_{}.pb", k), outputs[k]);
    expected.set_name(fmt::format("expected {}", k));
    onnx::ValueInfoProto zeros;
    zeros.set_name(fmt::format("zeros {}", k));
    auto& type = *zeros.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (const auto d : expected.dims()) type.mutable_shape()->add_dim()->set_dim_value(d);
    *graph.add_input() = zeros;
    auto& to = *add_node("Cast", {outputs[k].name()}, fmt::format("real {}", k))->add_attribute();
    to.set_name("to");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(onnx::TensorProto::FLOAT);
    add_node("Add", {zeros.name(), fmt::format("real {}", k)}, fmt::format("sum {}", k));
    zeros.set_name(fmt::format("sum {}", k));
    *graph.add_output() = zeros;
  }
  const auto o = convert(model, file);
  if (!o.network) return "";
  int k = 0;
  for (const auto& l : o.network->layers) {
    if (!is_output(l)) continue;
    const auto& found = o.network->layers[static_cast<std::size_t>(l.operands.at(0))].parameters.at(0).source;
    const auto& expected = o.model.initializers.at(fmt::format("expected {}", k++));
    if (!expected.error.empty()) return "";
    if (found.dims != expected.value.dims) return "another shape";
    const auto near_float = [](double f, double e) { return near(f, static_cast<float>(e)); };  // the constant is float32
    if (!std::ranges::equal(reals(found), reals(expected.value), near_float)) return "other values";
  }
  return "equal";
}

/// Writes the case's header and weights; returns the header's digest.
std::string write_network(const outcome& o, const std::string& name, const fs::path& folder) {
  const auto layout = onnx2hpp::lay_out_weights(*o.network);
  dice::files::writer weights((folder / (name + ".safetensors")).string());
  onnx2hpp::write_weights(layout, {name, structure_digest(*o.network, layout), [&] { return o.model_digest; }}, weights);
  weights.commit();
  const auto header = onnx2hpp::emit_header(*o.network, layout, name, o.model_digest);
  write_file(folder / (name + ".hpp"), header);
  return digest(header);
}

struct part {
  std::string includes, entries;
};

class preparation {
 public:
  preparation(fs::path out, std::size_t parts, const std::string& title)
      : out_(std::move(out)), parts_(parts), passing_(title), left_out_(title), constants_(title) {}

  void add(const test_case& c) {
    const auto model = out_ / "case.onnx";
    const auto o = convert(c, model);
    if (const auto why = reason(c, o); why.empty()) {
      passing_ += c.name + '\n';
      const auto identifier = onnx2hpp::namespace_for(c.name);
      add(o, identifier, c.name);
      // Of two operands, each in turn also becomes a constant, if onnx2hpp accepts that.
      if (o.kept.size() == 2)
        for (int k : o.kept)
          if (const auto one = convert(c, {k}, out_ / "one.onnx"); one.network)
            add(one, fmt::format("{}_{}", identifier, k), c.name);
    } else {
      left_out_ += c.name + '\t' + why + '\n';
    }
    if (const auto folded = fold(c, out_ / "constants.onnx"); !folded.empty())
      constants_ += c.name + (folded == "equal" ? "" : '\t' + folded) + '\n';
  }

  void write() const {
    for (std::size_t k = 0; k < parts_.size(); ++k)
      write_file(out_ / fmt::format("part_{}.cpp", k),
                 fmt::format("#include \"entry.hpp\"\n\n{}\nstatic const conformance::part cases({{\n{}}});\n",
                             parts_[k].includes, parts_[k].entries));
    write_file(out_ / "passing.txt", passing_);
    write_file(out_ / "left_out.txt", left_out_);
    write_file(out_ / "constants.txt", constants_);
  }

 private:
  void add(const outcome& o, const std::string& identifier, const std::string& name) {
    const auto header = write_network(o, identifier, out_);
    auto& p = parts_[programs_++ % parts_.size()];
    // The digest changes a part together with its headers. Otherwise build tools that compare times before all files are
    // written would not compile it again.
    p.includes += fmt::format("#include \"{}.hpp\"  // {}\n", identifier, header);
    p.entries += fmt::format("    conformance::make<{}::network, {}>(\"{}\", {{{}}}),\n", identifier, programs_, name,
                             fmt::join(o.kept, ", "));
  }

  fs::path out_;
  std::vector<part> parts_;
  std::size_t programs_ = 0;
  std::string passing_, left_out_, constants_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: conformance_prepare DATA OUT PARTS TITLE\n";
    return 2;
  }
  try {
    fs::create_directories(argv[2]);
    preparation all(argv[2], std::stoul(argv[3]), fmt::format("# {}\n", argv[4]));
    for (const auto& name : case_names(argv[1])) all.add(read_case(argv[1], name));
    all.write();
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "conformance_prepare: " << e.what() << '\n';
    return 1;
  }
}
