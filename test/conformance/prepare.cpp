// Turns ONNX's backend cases into networks of dice: conformance_prepare DATA OUT PARTS TITLE
//
// In OUT it writes three lists (first line: TITLE): passing.txt, left_out.txt with reasons, and constants.txt for what
// onnx2hpp computes itself; and header and weights of a few cases that onnx2hpp accepts, as few as have everything that
// headers of these cases say about operators, and part_0.cpp … with their programs.
#include "emit/emit.hpp"
#include "graph/names.hpp"
#include "outcome.hpp"
#include "tolerance.hpp"

#include "dice/files/writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>

namespace {

using namespace conformance;
namespace fs = std::filesystem;

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
    const auto& found = o.network->layers[l.operands.at(0)].parameters.at(0).source;
    const auto& expected = o.model.initializers.at(fmt::format("expected {}", k++));
    if (!expected.error.empty()) return "";
    if (found.dims != expected.value.dims) return "another shape";
    const auto near_float = [](double f, double e) { return near(f, static_cast<float>(e)); };  // the constant is float32
    if (!std::ranges::equal(reals(found), reals(expected.value), near_float)) return "other values";
  }
  return "equal";
}

/// Adds the words with which a header writes the network's operators: their names, attributes and enumerators. Returns
/// whether one is new.
bool add_words(const onnx2hpp::network& net, std::set<std::string>& to) {
  static const std::regex word("[a-z_][a-z0-9_]*");
  bool any = false;
  for (const auto& l : net.layers) {
    const auto name = l.op.struct_name(), attributes = l.op.attributes();
    any |= to.insert(name).second;
    for (std::sregex_iterator w(attributes.begin(), attributes.end(), word), end; w != end; ++w)
      any |= to.insert(name + ' ' + w->str()).second;
  }
  return any;
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
      convert_halves(c, o, out_ / "one.onnx",
                     [&](const outcome& one) { add(one, fmt::format("{}_{}", identifier, one.kept[0]), c.name); });
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
    if (!add_words(*o.network, words_)) return;
    const auto header = write_network(o, identifier, out_);
    auto& p = parts_[programs_++ % parts_.size()];
    // The digest changes a part together with its headers. Otherwise build tools that compare times before all files are
    // written would not compile it again.
    p.includes += fmt::format("#include \"{}.hpp\"  // {}\n", identifier, header);
    p.entries +=
        fmt::format("    conformance::make<{}::network>(\"{}\", {{{}}}),\n", identifier, name, fmt::join(o.kept, ", "));
  }

  fs::path out_;
  std::vector<part> parts_;
  std::size_t programs_ = 0;
  std::set<std::string> words_;  ///< of the networks that are compiled
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
