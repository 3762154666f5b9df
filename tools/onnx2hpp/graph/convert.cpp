#include "graph/convert.hpp"

#include "fold/by_kernels.hpp"
#include "graph/batch.hpp"
#include "graph/cut.hpp"
#include "graph/graph_order.hpp"
#include "graph/inline_functions.hpp"
#include "graph/input_shapes.hpp"
#include "graph/names.hpp"
#include "graph/node_context.hpp"
#include "graph/passes.hpp"
#include "ops/graph_ends.hpp"
#include "read/input_file.hpp"

#include "dice/text/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace onnx2hpp {

namespace {

constexpr std::int64_t first_ir = 3, last_ir = 14;

class converter {
 public:
  converter(const model& m, const conversion& settings, const messages& out) : model_(m), settings_(settings), out_(out) {}

  network run() {
    check_versions();
    try {
      nodes_ = inline_functions(model_);
    } catch (const conversion_error& e) {
      problems_.insert(problems_.end(), e.problems.begin(), e.problems.end());
      throw conversion_error(problems_);
    }
    for (const auto& n : nodes_) {
      net_.node_names.push_back(n.name);
      if (!n.outputs.empty()) net_.node_names.push_back(n.outputs[0]);
    }
    outputs_ = choose_outputs();
    order_ = order_nodes(nodes_, outputs_, problems_);
    require_tensors(order_);
    make_inputs(inputs_cut_off(order_, outputs_));
    for (const auto& [name, t] : model_.initializers) {
      value& v = values_[name];
      if (t.error.empty()) v = {value::kind::constant, -1, t.value};
      else if (t.remedy.empty()) v = {value::kind::missing, -1, t.value, "the initializer cannot be read: " + t.error};
    }
    for (auto i : order_) convert_node(i);
    // The remaining nodes depend on themselves, which has been reported, or no output needs them.
    for (const auto& n : nodes_)
      for (const auto& o : n.outputs) values_.emplace(o, value{});
    for (const auto& name : outputs_) make_output(name);
    note_precision();
    for (const auto& [name, v] : values_) {
      net_.tensors[name] = v.is == value::kind::layer ? v.index : -1;
      if (const auto type = number_of(v.holds.type); type != dice::tensor::number::float32) net_.types[name] = type;
    }
    net_.tensors.erase("");
    if (!problems_.empty()) throw conversion_error(problems_);
    // Layers of which only the shape was read do not count as readers.
    drop_unused(net_);
    if (settings_.fold) {
      join_normalizations(net_);
      drop_unused(net_);
      cancel_transposes(net_);
      fold_padding(net_);
      join_functions(net_);
      fold_scales(net_);
      drop_unused(net_);
    }
    if (const auto left = nodes_.size() - order_.size(); left > 0)
      out_.detail(fmt::format("{} nodes are left out: no output depends on them", left));
    return std::move(net_);
  }

  /// Marks problems that a batch of 1 does not have.
  void blame_batch(conversion_error& e) {
    if (batch_.frames < 2) return;
    const messages silent(verbosity::silent);
    converter one(model_, batch_.of_one, silent);
    try {
      one.run();
    } catch (const conversion_error&) {  // it has some of them, too
    }
    batch_.blame(problems_, one.problems_);
    e.problems = problems_;
  }

  /// What to do about all problems that `run` found: where to end the network before what was refused, which is tried.
  std::string remedy() const {
    if (std::ranges::none_of(problems_, &problem::avoidable)) return {};
    if (!std::ranges::all_of(problems_, &problem::avoidable))
      return "solve the other problems first; then onnx2hpp says where the network can end before what is refused";
    const partial_graph g{nodes_, order_, outputs_, values_, net_};
    auto refused = refused_;
    const messages silent(verbosity::silent);  // lives as long as the converters below
    for (int attempt = 0; attempt < 4; ++attempt) {
      conversion settings = settings_;
      settings.outputs = outputs_before(g, refused);
      if (settings.outputs.empty())
        return "export the model without what is refused; nothing of the network is left without it";
      converter rest(model_, settings, silent);
      try {
        rest.run();
        return advice(g, settings.outputs);
      } catch (const conversion_error&) {
        refused.insert(rest.refused_.begin(), rest.refused_.end());
      }
    }
    return {};
  }

 private:
  static std::string advice(const partial_graph& g, const std::vector<std::string>& outputs) {
    const auto k = kept_by(g, outputs);
    std::vector<std::string> words;
    for (const auto& name : outputs) words.push_back(dice::text::shell_word(name));
    const auto option = fmt::format("--outputs {}", fmt::join(words, ","));
    return k.little() ? fmt::format("export the model without what is refused; to leave it out would keep only {}: {}",
                                    k.text(), option)
                      : fmt::format("leave out what is refused; this keeps {}: {}", k.text(), option);
  }

  /// One problem for each file of weights that cannot be used, and for each other damaged tensor.
  void require_tensors(const std::vector<std::size_t>& order) {
    std::map<std::string, std::pair<const stored_tensor*, int>> files;
    std::set<const stored_tensor*> seen;
    const auto look_at = [&](const std::string& what, const stored_tensor& t) {
      if (t.remedy.empty() || !seen.insert(&t).second) return;
      if (t.file.empty()) problems_.push_back({.node = what, .reason = t.error, .remedy = t.remedy});
      else ++files.try_emplace(t.file, &t, 0).first->second.second;
    };
    const auto find = [&](const std::vector<std::string>& names) {
      for (const auto& name : names)
        if (const auto t = model_.initializers.find(name); t != model_.initializers.end())
          look_at("initializer " + quote(name), t->second);
    };
    for (const auto i : order) {
      find(nodes_[i].inputs);
      for (const auto& [name, a] : nodes_[i].attributes) look_at(display_name(nodes_[i]), a.t);
    }
    find(outputs_);
    for (const auto& [file, t] : files)
      problems_.push_back(
          {.node = "file " + quote(file),
           .reason = fmt::format("it should hold {} of the model's tensors, but {}", t.second, t.first->error),
           .remedy = t.first->remedy});
    if (!files.empty()) throw conversion_error(problems_);
  }

  void check_versions() {
    if (model_.ir_version < first_ir)
      problems_.push_back({.reason = fmt::format("the model has IR version {}; versions {} to {} are supported",
                                                 model_.ir_version, first_ir, last_ir),
                           .remedy = "export it again, or convert it with onnx.version_converter"});
    if (model_.ir_version > last_ir)
      out_.warning(
          fmt::format("the model has IR version {}; versions {} to {} are known", model_.ir_version, first_ir, last_ir));
    const auto opset = model_.opsets.find("");
    if (opset == model_.opsets.end())
      problems_.push_back({.reason = "the model imports no version of the standard operators", .remedy = "export it again"});
    else check_opset(opset->second);
  }

  void check_opset(std::int64_t version) {
    if (version >= first_opset && version <= last_opset) return;
    problems_.push_back(
        {.reason = fmt::format("the model uses opset {}; opsets {} to {} are supported", version, first_opset, last_opset),
         .remedy = "export it with one of these, or convert it with onnx.version_converter"});
  }

  /// Those of `names` that a graph may have; the others are problems.
  std::vector<std::string> distinct(const char* what, const std::vector<std::string>& names) {
    std::vector<std::string> out;
    std::set<std::string> seen;
    for (const auto& name : names)
      if (!name.empty() && seen.insert(name).second) out.push_back(name);
      else
        problems_.push_back({.reason = name.empty() ? fmt::format("an {} has no name", what)
                                                    : fmt::format("two {}s have the name {}", what, quote(name)),
                             .remedy = "give each value its own name"});
    return out;
  }
  std::vector<std::string> names_of(const char* what, const std::vector<value_info>& values) {
    std::vector<std::string> names;
    for (const auto& v : values) names.push_back(v.name);
    return distinct(what, names);
  }

  std::vector<std::string> choose_outputs() {
    std::vector<std::string> names = settings_.outputs;
    if (names.empty()) names = names_of("output", model_.outputs);
    if (names.empty()) problems_.push_back({.reason = "the model has no output", .remedy = "name some with --outputs"});
    for (const auto& name : settings_.outputs) {
      const bool known =
          std::ranges::any_of(nodes_, [&](const node& n) { return std::ranges::count(n.outputs, name) > 0; }) ||
          std::ranges::any_of(model_.inputs, [&](const value_info& v) { return v.name == name; });
      if (!known) throw usage_error(fmt::format("--outputs: the model has no value {}; {}", quote(name), meant(name)));
    }
    return names;
  }

  /// Which value `name` probably means: what the node or layer of this name computes, or one with a similar name.
  std::string meant(const std::string& name) const {
    std::vector<std::string> values;
    for (const auto& v : model_.inputs) values.push_back(v.name);
    for (const auto& n : nodes_) {
      const bool has_name = n.name == name || (!n.name.empty() && identifiers().make(n.name, "layer") == name);
      if (has_name && !n.outputs.empty()) return fmt::format("did you mean {}?", quote(n.outputs[0]));
      values.insert(values.end(), n.outputs.begin(), n.outputs.end());
    }
    return hints(values).for_name(name, "--outputs takes names of values, as a viewer of ONNX files shows them");
  }

  /// Inputs that only the part cut off by --outputs reads. Without --outputs all inputs stay, read or not.
  std::set<std::string> inputs_cut_off(const std::vector<std::size_t>& order,
                                       const std::vector<std::string>& outputs) const {
    std::set<std::string> out;
    if (settings_.outputs.empty()) return out;
    for (const auto& v : model_.inputs) out.insert(v.name);
    for (auto i : order)
      for (const auto& name : nodes_[i].inputs) out.erase(name);
    for (const auto& name : outputs) out.erase(name);
    for (const auto& name : out) out_.note(fmt::format("the input {} is left out: no output needs it", quote(name)));
    return out;
  }

  void make_inputs(const std::set<std::string>& left_out) {
    names_of("input", model_.inputs);
    distinct("initializer", model_.initializer_names);
    auto [shapes, symbols] = input_shapes(model_, left_out, settings_, out_, problems_);
    symbols_ = std::move(symbols);
    batch_ = find_batch(model_, settings_, shapes);
    for (const auto& v : model_.inputs) {
      if (left_out.contains(v.name)) continue;
      const auto known = shapes.find(v.name);
      value made;
      if (known != shapes.end()) {
        net_.layers.push_back({input_operation(known->second), {}, {}, v.name, known->second});
        made = {value::kind::layer, static_cast<int>(net_.layers.size()) - 1};
      }
      values_.emplace(v.name, made);
    }
    for (const auto& n : nodes_)
      for (const auto& o : n.outputs)
        if (!o.empty() && (values_.contains(o) || model_.initializers.contains(o)))
          problems_.push_back(problem_of(n, "its output " + quote(o) + " has the name of an input or initializer",
                                         "give each value its own name"));
  }

  void convert_node(std::size_t i) {
    const node& n = nodes_[i];
    node_context context(n, net_, values_, settings_.fold);
    bool failed = true;
    const auto before = net_.layers.size();
    const bool lost_if_failed = makes_constants(n);
    const bool reads_lost = std::ranges::any_of(n.inputs, [&](const auto& name) { return lost_.contains(name); });
    try {
      if (lost_if_failed && reads_lost) throw unknown_input{};
      run(n, context);
      context.require_all_read();
      failed = false;
    } catch (const refusal& r) {
      if (!reads_lost) report(i, r);
    } catch (const unknown_input&) {
    }
    if (failed) net_.layers.erase(net_.layers.begin() + static_cast<std::ptrdiff_t>(before), net_.layers.end());
    if (failed && lost_if_failed) lost_.insert(n.outputs.begin(), n.outputs.end()), lost_.erase("");
    for (auto& [name, v] : context.results())
      if (!failed && !name.empty()) values_[name] = std::move(v);
    for (std::size_t k = 0; k < n.outputs.size(); ++k)
      if (!n.outputs[k].empty() && !values_.contains(n.outputs[k]))
        values_[n.outputs[k]] =
            failed
                ? assumed(n, n.outputs[k])
                : value{value::kind::missing, -1, {}, fmt::format("output {} of {} is not supported", k, n.operator_name)};
  }

  void report(std::size_t i, const refusal& r) {
    const node& n = nodes_[i];
    problems_.push_back(problem_of(n, r.reason, r.remedy.empty() ? hint(n) : r.remedy));
    problems_.back().avoidable = problems_.back().remedy.empty();
    problems_.back().about_operator = r.about_operator;
    refused_.insert(i);
  }

  void run(const node& n, node_context& context) {
    if (!n.domain.empty())
      context.refuse(n.opset == 0 ? fmt::format("the domain {} is not imported", quote(n.domain))
                                  : fmt::format("operators of the domain {} are not supported", quote(n.domain)));
    const auto found = operators().find(n.operator_name);
    if (found == operators().end())
      context.refuse("the operator is not supported", quantised(n) ? "export the model as it was before quantization" : "");
    const known_operator& known = found->second;
    if (n.opset < first_opset || n.opset > last_opset) {
      // Already reported for the model, unless a function has another opset.
      if (const auto all = model_.opsets.find(""); all == model_.opsets.end() || all->second == n.opset)
        throw unknown_input{};
      context.refuse(fmt::format("its function uses this opset; opsets {} to {} are supported", first_opset, last_opset));
    }
    if (n.opset < known.exists.first)
      context.refuse(fmt::format("the operator exists only from opset {} on", known.exists.first));
    if (n.opset > known.exists.last)
      context.refuse(fmt::format("the operator exists only up to opset {}", known.exists.last));
    constexpr auto* for_constants =
        "the operator is supported on constants only, and one of its inputs is computed at run time";
    // Also behind a node that was refused: all nodes that have to be left out are named.
    const auto lost = [&](const std::string& name) {
      const auto v = values_.find(name);
      return v != values_.end() && v->second.is == value::kind::unknown;
    };
    if (!known.import && !known.folds_shapes && std::ranges::any_of(n.inputs, lost)) context.refuse(for_constants);
    const bool constants = context.only_constants();
    if (known.fold && (constants || known.folds_shapes)) {
      if (!known.folds_shapes) widen(n);
      known.fold(context);
      return charge(n, context);
    }
    if (!known.import) context.refuse(for_constants);
    if (!constants) return known.import(context);
    widen(n);
    compute_by_kernels(context, known, operations_);
    charge(n, context);
  }

  /// Constants are computed in float32 at least.
  void widen(const node& n) {
    for (const auto& name : n.inputs)
      if (const auto v = values_.find(name); v != values_.end() && v->second.is == value::kind::constant)
        v->second.data = widened(v->second.data);
  }

  /// Notes if the model computes in another real type than float32: that of an input, an output, or of what it casts an
  /// activation to.
  void note_precision() {
    std::set<element> types;
    for (const auto& v : model_.inputs) types.insert(v.type);
    for (const auto& v : model_.outputs)
      if (std::ranges::count(outputs_, v.name) > 0) types.insert(v.type);
    for (const auto& n : nodes_)
      if (const auto to = n.attributes.find("to");
          n.operator_name == "Cast" && to != n.attributes.end() && !n.outputs.empty())
        if (const auto v = values_.find(n.outputs[0]); v != values_.end() && v->second.is == value::kind::layer)
          types.insert(static_cast<element>(to->second.i));
    for (const auto t : types) {
      if (!is_real(t) || t == element::float32) continue;
      net_.notes.push_back(is_half(t) ? fmt::format("the model computes in {}; dice computes it in float32, with the same "
                                                    "weights, and its inputs and outputs are float32",
                                                    name_of(t))
                                      : "the model computes in DOUBLE; dice rounds its weights to float32 and computes in "
                                        "float32, and its inputs and outputs are float32");
      out_.note(net_.notes.back());
    }
  }

  /// Counts the bytes that folding reads and makes: even a small model can ask for any amount of both.
  void charge(const node& n, node_context& context) {
    static constexpr const char* readers_of_parts[] = {"Gather", "Shape", "Size", "Slice", "Split"};
    const bool reads_all = std::ranges::find(readers_of_parts, n.operator_name) == std::end(readers_of_parts);
    std::set<const void*> owners;
    std::size_t bytes = 0;
    for (const auto& name : n.inputs)
      if (const auto v = values_.find(name); v != values_.end() && owners.insert(v->second.data.owner.get()).second)
        bytes += reads_all ? v->second.data.bytes.size() : 0;
    bool computed = false;
    for (const auto& [name, v] : context.results())
      if (v.is == value::kind::constant && !owners.contains(v.data.owner.get()))
        computed = true, bytes += v.data.bytes.size();
    if (computed) folded_bytes_ += bytes;
    if (folded_bytes_ > max_folded_bytes) context.refuse("with it, computing the model's constants takes over 4 GiB");
  }

  /// Whether all inputs of the node are constants, or would be if no node had been refused. Not if it reads only shapes.
  bool makes_constants(const node& n) const {
    const auto known = operators().find(n.operator_name);
    const auto constant = [&](const std::string& name) {
      const auto v = values_.find(name);
      return name.empty() || lost_.contains(name) || (v != values_.end() && v->second.is == value::kind::constant);
    };
    return !n.inputs.empty() && std::ranges::all_of(n.inputs, constant) &&
           (known == operators().end() || !known->second.folds_shapes);
  }

  /// What to do about a node that is refused if it could be computed before, or an input does not have its declared shape.
  std::string hint(const node& n) const {
    const auto known = operators().find(n.operator_name);
    if (n.domain.empty() && makes_constants(n) && (known == operators().end() || !known->second.fold))
      return "compute the model's constants first, with onnx-simplifier or ONNX Runtime's offline optimisation "
             "(docs/own_model.md)";
    if (!n.domain.empty() || known == operators().end() || !known->second.import) return {};
    return undeclared_input(model_, settings_);
  }

  /// After a problem, conversion continues in order to find others, with the shape that the model declares, if any.
  value assumed(const node& n, const std::string& name) {
    const auto declared = model_.values.find(name);
    std::optional<shape> s = declared == model_.values.end() ? std::nullopt : declared_shape(declared->second, symbols_);
    if (!s && keeps_shape(n))
      for (const auto& in : n.inputs)
        if (const auto v = values_.find(in); v != values_.end() && v->second.is == value::kind::layer) {
          s = net_.layers[static_cast<std::size_t>(v->second.index)].result;
          break;
        }
    if (!s) return {};
    net_.layers.push_back({input_operation(*s), {}, {}, name, *s});
    return {value::kind::layer, static_cast<int>(net_.layers.size()) - 1};
  }

  static bool quantised(const node& n) {
    static constexpr const char* known[] = {"ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
                                            "QLinearConv", "QLinearMatMul",    "QuantizeLinear"};
    return std::ranges::any_of(known, [&](const char* k) { return n.operator_name == k; });
  }

  /// Operators that keep the shape of their first input, unsupported or refused.
  static bool keeps_shape(const node& n) {
    // clang-format off
    static constexpr const char* known[] = {
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "CumSum", "Elu", "Erf", "Exp",
        "Floor", "Gelu", "GroupNormalization", "Hardmax", "InstanceNormalization", "LayerNormalization", "Log", "LogSoftmax",
        "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "PRelu", "RMSNormalization", "Reciprocal", "Round",
        "Selu", "Shrink", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "ThresholdedRelu"};
    // clang-format on
    return std::ranges::any_of(known, [&](const char* k) { return n.operator_name == k; });
  }

  void make_output(const std::string& name) {
    const auto v = values_.find(name);
    const auto tell = [&](std::string reason) {
      problems_.push_back({.node = "output " + quote(name), .reason = std::move(reason), .avoidable = true});
    };
    if (v == values_.end()) return tell("no node produces it");
    switch (v->second.is) {
      case value::kind::layer: {
        if (!keeps_declared_shape(name, v->second.index)) return;
        const shape s = net_.layers[static_cast<std::size_t>(v->second.index)].result;
        net_.layers.push_back({output_operation(number_of(v->second.holds.type)), {v->second.index}, {}, name, s});
        break;
      }
      case value::kind::constant:
        return tell("it is a constant of the model");
      case value::kind::sequence:
        return tell("it is a sequence of tensors");
      case value::kind::missing:
        return tell(v->second.reason);
      case value::kind::unknown:
        break;
    }
  }

  /// Compares the shape of an output with the declared one. False, with a problem, if frames are lost; else a warning.
  bool keeps_declared_shape(const std::string& name, int layer) {
    if (!refused_.empty()) return true;  // behind what was refused, shapes are assumed
    const bool as_declared = undeclared_input(model_, settings_).empty();
    const auto wrong = compare_output(net_, layer, declared_value(model_, name), batch_, symbols_, as_declared);
    if (wrong && wrong->loses_frames) problems_.push_back({.node = "output " + quote(name), .reason = wrong->reason});
    if (!wrong || wrong->loses_frames) return !wrong;
    net_.notes.push_back("output " + quote(name) + ": " + wrong->reason);
    out_.warning(net_.notes.back());
    return true;
  }

  const model& model_;
  const conversion& settings_;
  const messages& out_;
  std::vector<problem> problems_;
  std::vector<node> nodes_;
  std::vector<std::string> outputs_;
  std::vector<std::size_t> order_;  ///< of the nodes that the outputs need
  std::set<std::size_t> refused_;   ///< nodes
  std::set<std::string> lost_;      ///< values that would be constants if no node had been refused
  std::map<std::string, value> values_;
  symbol_extents symbols_;
  batch batch_;
  static constexpr std::size_t max_folded_bytes = std::size_t{1} << 32;
  std::size_t folded_bytes_ = 0;
  double operations_ = 0;  ///< of reference kernels, for constants
  network net_;
};

}  // namespace

network convert(const model& m, const conversion& settings, const messages& out) {
  converter c(m, settings, out);
  try {
    return c.run();
  } catch (conversion_error& e) {
    c.blame_batch(e);
    e.remedy = c.remedy();
    throw;
  }
}

}  // namespace onnx2hpp
