#include "graph/convert.hpp"

#include "fold/by_kernels.hpp"
#include "graph/batch.hpp"
#include "graph/cut.hpp"
#include "graph/damaged_tensors.hpp"
#include "graph/ends.hpp"
#include "graph/graph_order.hpp"
#include "graph/inline_functions.hpp"
#include "graph/inner_graphs.hpp"
#include "graph/input_shapes.hpp"
#include "graph/node_context.hpp"
#include "graph/passes.hpp"
#include "graph/precision_notes.hpp"
#include "graph/versions.hpp"
#include "read/input_file.hpp"

#include "dice/graph/ops/input.hpp"
#include "dice/graph/ops/output.hpp"
#include "dice/text/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>
#include <memory>
#include <set>

namespace onnx2hpp {

namespace {

class converter : inner_graphs {
 public:
  converter(const model& m, const conversion& settings, const messages& out) : model_(m), settings_(settings), out_(out) {}

  network run() {
    check_versions(model_, out_, problems_);
    try {
      if (!inliner_) place_nodes();
    } catch (const conversion_error& e) {
      problems_.insert(problems_.end(), e.problems.begin(), e.problems.end());
      throw conversion_error(problems_);
    }
    for (const auto& n : nodes_) {
      net_.node_names.push_back(n.name);
      if (!n.outputs.empty()) net_.node_names.push_back(n.outputs[0]);
    }
    outputs_ = choose_outputs(model_, nodes_, settings_, problems_);
    order_ = order_nodes(nodes_, outputs_, problems_);
    require_tensors(model_, nodes_, order_, outputs_, problems_);
    convert_nodes();
    // The remaining nodes depend on themselves, which has been reported, or are needed by no output.
    for (const auto& n : nodes_)
      for (const auto& o : n.outputs) values_.emplace(o, value{});
    for (const auto& name : outputs_) make_output(name);
    for (const auto& note : precision_notes(model_, nodes_, outputs_, values_)) {
      out_.note(note);
      net_.notes.push_back(note);
    }
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

  /// A remedy for all problems that `run` found: where to end the network before what was refused. Tries it out.
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
        return "export the model without what is refused: nothing of the network comes before it, so --outputs cannot help";
      converter rest(model_, settings, silent);
      rest.inliner_ = inliner_;
      rest.nodes_ = nodes_;
      rest.inner_nodes_ = inner_nodes_;
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

  /// The model's nodes, with those of functions and of the graphs inside nodes that take their place. Which graphs do so is
  /// known only when constants are computed, so a first conversion finds out.
  void place_nodes() {
    inliner_ = std::make_shared<inliner>(model_);
    nodes_ = inliner_->run();
    const auto has_graph = [](const node& n) {
      return std::ranges::any_of(n.attributes, [](const auto& a) { return a.second.g != nullptr; });
    };
    if (std::ranges::none_of(nodes_, has_graph)) return;
    const messages silent(verbosity::silent);
    converter first(model_, settings_, silent);
    first.inliner_ = inliner_;
    first.nodes_ = std::move(nodes_);
    nodes_.clear();
    first.find_inner_nodes();
    if (!first.damages_.empty()) throw conversion_error(first.damages_);
    for (const auto& n : first.nodes_) first.place(n, nodes_);
    inner_nodes_ = first.inner_nodes_;
  }

  void find_inner_nodes() {
    // An output may also be a value inside a graph that is not known yet.
    for (const auto& name : settings_.outputs)
      if (std::ranges::any_of(nodes_, [&](const node& n) { return std::ranges::count(n.outputs, name) > 0; }))
        outputs_.push_back(name);
    if (settings_.outputs.empty() || outputs_.size() < settings_.outputs.size())
      for (const auto& v : model_.outputs) outputs_.push_back(v.name);
    order_ = order_nodes(nodes_, outputs_, problems_);
    convert_nodes();
  }

  /// Appends `n`, or the nodes that take its place.
  void place(const node& n, std::vector<node>& out) const {
    const auto inner = inner_.find(&n);
    if (inner == inner_.end()) return out.push_back(n);
    for (const auto& i : inner->second) place(i, out);
  }

  void make_inputs(const std::set<std::string>& left_out) {
    distinct("input", model_.inputs, problems_);
    distinct("initializer", model_.initializer_names, problems_);
    auto [shapes, symbols] = input_shapes(model_, left_out, settings_, out_, problems_);
    symbols_ = std::move(symbols);
    batch_ = find_batch(model_, settings_, shapes);
    for (const auto& v : model_.inputs) {
      if (left_out.contains(v.name)) continue;
      const auto known = shapes.find(v.name);
      value made;
      if (known != shapes.end()) {
        net_.layers.push_back(
            {dice::ops::input{.extents = known->second, .number = number_of(v.type)}, {}, {}, v.name, known->second});
        made = {
            value::kind::layer, static_cast<int>(net_.layers.size()) - 1, {}, {}, integers_of(v.type).value_or(numbers{})};
      }
      values_.emplace(v.name, made);
    }
    for (const auto& n : nodes_)
      for (const auto& o : n.outputs)
        if (!o.empty() && (values_.contains(o) || model_.initializers.contains(o)))
          problems_.push_back(problem_of(n, "its output " + quote(o) + " has the name of an input or initializer",
                                         "give each value its own name"));
  }

  void convert_nodes() {
    const auto left_out = inputs_cut_off(model_, nodes_, order_, outputs_, settings_);
    for (const auto& name : left_out) out_.note(fmt::format("the input {} is left out: no output needs it", quote(name)));
    make_inputs(left_out);
    for (const auto& [name, t] : model_.initializers) {
      value& v = values_[name];
      if (t.error.empty()) v = {value::kind::constant, -1, t.value};
      else if (t.remedy.empty()) v = {value::kind::missing, -1, t.value, "the initializer cannot be read: " + t.error};
    }
    for (auto i : order_) {
      const auto before = problems_.size();
      convert_node(nodes_[i]);
      if (problems_.size() > before) refused_.insert(i);
    }
  }

  void convert_node(const node& n) {
    node_context context(n, net_, values_, settings_.fold, this);
    bool failed = true;
    const auto before = net_.layers.size();
    const bool lost_if_failed = makes_constants(n);
    const bool reads_lost = std::ranges::any_of(n.inputs, [&](const auto& name) { return lost_.contains(name); });
    const node* const around = std::exchange(current_, &n);
    ++depth_;
    try {
      if (lost_if_failed && reads_lost) throw unknown_input{};
      run(n, context);
      context.require_all_read();
      failed = false;
    } catch (const refusal& r) {
      if (!reads_lost) report(n, r);
    } catch (const unknown_input&) {
    }
    current_ = around;
    --depth_;
    if (failed) net_.layers.erase(net_.layers.begin() + static_cast<std::ptrdiff_t>(before), net_.layers.end());
    if (failed) forget_inner(n);
    if (failed && lost_if_failed) {
      lost_.insert(n.outputs.begin(), n.outputs.end());
      lost_.erase("");
    }
    for (auto& [name, v] : context.results())
      if (!failed && !name.empty()) values_[name] = std::move(v);
    for (std::size_t k = 0; k < n.outputs.size(); ++k)
      if (!n.outputs[k].empty() && !values_.contains(n.outputs[k]))
        values_[n.outputs[k]] =
            failed
                ? assumed(n, n.outputs[k])
                : value{value::kind::missing, -1, {}, fmt::format("output {} of {} is not supported", k, n.operator_name)};
  }

  // For importers of nodes with graphs inside.
  std::vector<std::string> convert(const node& of, const subgraph& g, const std::vector<std::string>& given,
                                   const std::string& part) override {
    if (depth_ > deepest_nesting)
      throw refusal{
          fmt::format("the graphs inside nodes are nested over {} deep, or a function calls itself in one", deepest_nesting),
          "export the model without functions"};
    auto inner = inliner_->inner(of, g, given, part);
    const auto order = order_nodes(inner.nodes, inner.outputs, damages_);
    if (!damages_.empty()) throw unknown_input{};
    for (const auto i : order) convert(std::move(inner.nodes[i]));
    return std::move(inner.outputs);
  }
  void convert(node n) override {
    if (++inner_nodes_ > max_inner_nodes)
      throw refusal{fmt::format("the graphs inside nodes would become more than {} nodes", max_inner_nodes),
                    "export the model with fewer iterations"};
    convert_node(inner_[current_].emplace_back(std::move(n)));
  }
  std::string fresh(const std::string& name) override { return inliner_->fresh(name); }
  const value& at(const std::string& name) const override {
    static const value unknown;
    const auto v = values_.find(name);
    return v == values_.end() ? unknown : v->second;
  }

  /// Removes the nodes that took the place of `n`, which is refused.
  void forget_inner(const node& n) {
    const auto inner = inner_.find(&n);
    if (inner == inner_.end()) return;
    for (const auto& i : inner->second) {
      forget_inner(i);
      for (const auto& o : i.outputs) values_.erase(o);
    }
    inner_.erase(inner);
  }

  void report(const node& n, const refusal& r) {
    problems_.push_back(problem_of(n, r.reason, r.remedy.empty() ? hint(n) : r.remedy));
    problems_.back().avoidable = problems_.back().remedy.empty();
    problems_.back().explained = !r.remedy.empty();
    problems_.back().about_operator = r.about_operator;
  }

  void run(const node& n, node_context& context) {
    if (!n.domain.empty())
      context.refuse(n.opset == 0 ? fmt::format("the domain {} is not imported", quote(n.domain))
                                  : fmt::format("operators of the domain {} are not supported", quote(n.domain)));
    const auto found = operators().find(n.operator_name);
    if (found == operators().end())
      context.refuse("the operator is not supported",
                     is_quantised(n.operator_name) ? "export the model as it was before quantization" : "");
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
    const auto refuse_layers = [&] {
      if (is_quantised(n.operator_name))
        context.refuse(
            "it quantises or dequantises what is computed at run time; dice computes in float32, and reads quantised "
            "constants only",
            "export the model as it was before quantization");
      context.refuse("the operator is supported on constants only, and one of its inputs is computed at run time");
    };
    // This also applies behind a refused node: all nodes that have to be left out are named.
    const auto lost = [&](const std::string& name) {
      const auto v = values_.find(name);
      return v != values_.end() && v->second.is == value::kind::unknown;
    };
    if (!known.import && !known.folds_shapes && std::ranges::any_of(n.inputs, lost)) refuse_layers();
    const bool constants = context.only_constants();
    if (known.fold && (constants || known.folds_shapes)) {
      if (!known.folds_shapes) widen(n);
      known.fold(context);
      return charge(n, context);
    }
    if (!known.import) refuse_layers();
    if (!constants) return known.import(context);
    widen(n);
    compute_by_kernels(context, known, operations_);
    charge(n, context);
  }

  /// Constants are computed at least in float32.
  void widen(const node& n) {
    for (const auto& name : n.inputs)
      if (const auto v = values_.find(name); v != values_.end() && v->second.is == value::kind::constant)
        v->second.data = widened(v->second.data);
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
      if (v.is == value::kind::constant && !owners.contains(v.data.owner.get())) {
        computed = true;
        bytes += v.data.bytes.size();
      }
    if (computed) folded_bytes_ += bytes;
    if (folded_bytes_ > max_folded_bytes) context.refuse("with it, computing the model's constants takes over 4 GiB");
  }

  /// Whether all inputs of the node are constants, or would be if no node had been refused. False if it reads only shapes.
  bool makes_constants(const node& n) const {
    const auto known = operators().find(n.operator_name);
    const auto constant = [&](const std::string& name) {
      const auto v = values_.find(name);
      return name.empty() || lost_.contains(name) || (v != values_.end() && v->second.is == value::kind::constant);
    };
    return !n.inputs.empty() && std::ranges::all_of(n.inputs, constant) &&
           (known == operators().end() || !known->second.folds_shapes);
  }

  /// A remedy for a refused node, if its constants could be computed before conversion, or if an input does not have its
  /// declared shape.
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
    if (!s && keeps_shape(n.operator_name))
      for (const auto& in : n.inputs)
        if (const auto v = values_.find(in); v != values_.end() && v->second.is == value::kind::layer) {
          s = net_.layers[v->second.index].result;
          break;
        }
    if (!s) return {};
    net_.layers.push_back({dice::ops::input{.extents = *s}, {}, {}, name, *s});
    return {value::kind::layer, static_cast<int>(net_.layers.size()) - 1};
  }

  void make_output(const std::string& name) {
    const auto v = values_.find(name);
    const auto tell = [&](std::string reason) {
      problems_.push_back({.node = "output " + quote(name), .reason = std::move(reason), .avoidable = true});
    };
    if (v == values_.end()) return tell("no node produces it");
    switch (v->second.is) {
      case value::kind::layer: {
        const auto type = v->second.holds.type;
        if (number_of(type) == dice::tensor::number::float32 && !is_real(type))
          return tell("it holds " + onnx2hpp::name_of(type) + "; outputs can be FLOAT, INT64, INT32, UINT8 or BOOL");
        if (!keeps_declared_shape(name, v->second.index)) return;
        const shape s = net_.layers[v->second.index].result;
        net_.layers.push_back({dice::ops::output{.number = number_of(type)}, {v->second.index}, {}, name, s});
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
  std::shared_ptr<inliner> inliner_;
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
  static constexpr std::size_t max_inner_nodes = 20'000;
  std::map<const node*, std::list<node>> inner_;  ///< the nodes that take a node's place
  const node* current_ = nullptr;                 ///< the node that is being converted
  int depth_ = 0;                                 ///< of the graphs in which `current_` is, from 1
  std::vector<problem> damages_;                  ///< of graphs inside nodes
  std::size_t inner_nodes_ = 0;
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
