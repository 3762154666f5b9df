#include "graph/cut.hpp"

#include "graph/graph_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace {

const std::set<std::string> moves{"Cast",  "Expand", "Flatten", "Gather",    "Identity", "Reshape",
                                  "Slice", "Split",  "Squeeze", "Transpose", "Unsqueeze"};
const std::set<std::string> comparisons{"And",         "Equal", "Greater", "GreaterOrEqual", "Less",
                                        "LessOrEqual", "Not",   "Or",      "Where",          "Xor"};
const std::set<std::string> arithmetic{"Add", "ArgMax", "ArgMin",    "Div",       "Max", "Min",
                                       "Mul", "Neg",    "ReduceMax", "ReduceMin", "Sub"};

class cutter {
 public:
  cutter(const partial_graph& g, std::set<std::size_t> refused)
      : g_(g), refused_(std::move(refused)), outputs_(g.outputs.begin(), g.outputs.end()) {
    for (const auto i : g_.order)
      for (const auto& o : g_.nodes[i].outputs) producer_[o] = i;
    // If a node reads an output that its producer lacks here, all of the producer has to be computed elsewhere.
    for (const auto i : g_.order)
      for (const auto& name : reads(g_.nodes[i]))
        if (const auto p = producer_.find(name); p != producer_.end() && is(name, value::kind::missing))
          refused_.insert(p->second);
  }

  std::vector<std::string> run() {
    std::set<std::string> behind, wanted = outputs_;
    for (const auto i : g_.order) {
      const auto in = reads(g_.nodes[i]);
      const auto lost = [&](const std::string& name) { return behind.contains(name) || is(name, value::kind::unknown); };
      if (!refused_.contains(i) && std::ranges::none_of(in, lost)) continue;
      behind.insert(g_.nodes[i].outputs.begin(), g_.nodes[i].outputs.end());
      wanted.insert(in.begin(), in.end());
    }
    std::vector<std::string> out;
    for (const auto i : g_.order)
      for (const auto& o : g_.nodes[i].outputs)
        if (wanted.contains(o) && !behind.contains(o) && computed(o)) out.push_back(o);
    if (out.size() > handful) out = joined(out);
    return without_derived(out);
  }

 private:
  static constexpr std::size_t handful = 8, longest_chain = 16;

  bool is(const std::string& name, value::kind kind) const {
    const auto v = g_.values.find(name);
    return v != g_.values.end() && v->second.is == kind;
  }
  bool computed(const std::string& name) const {
    const auto v = g_.values.find(name);
    return v != g_.values.end() && v->second.is == value::kind::layer && !is_input(g_.net.layers[v->second.index]);
  }

  /// The only tensor from which a node takes, arranges or compares elements to get `name`; "" if it computes more.
  std::string whole(const std::string& name) const {
    const auto p = producer_.find(name);
    if (p == producer_.end()) return {};
    const auto& n = g_.nodes[p->second];
    if (!moves.contains(n.operator_name) && !comparisons.contains(n.operator_name)) return {};
    const auto one = std::ranges::find_if(n.inputs, [&](const auto& in) { return computed(in); });
    return std::count_if(one, n.inputs.end(), [&](const auto& in) { return computed(in); }) == 1 ? *one : "";
  }

  /// `name`, what it is a part of, what that is a part of …
  std::vector<std::string> chain(std::string name) const {
    std::vector<std::string> out;
    for (; !name.empty() && out.size() < longest_chain; name = whole(name)) out.push_back(name);
    return out;
  }

  /// Makes few values of many: replaces parts of one tensor (the scores of each class, or which of them are high) by that
  /// tensor.
  std::vector<std::string> joined(const std::vector<std::string>& values) const {
    std::map<std::string, int> parts;
    for (const auto& name : values)
      for (const auto& w : chain(name)) ++parts[w];
    std::vector<std::string> out;
    std::set<std::string> known;
    for (const auto& name : values) {
      const auto wholes = chain(name);
      auto best = wholes.begin();
      if (!outputs_.contains(name)) best = std::find_if(best + 1, wholes.end(), [&](const auto& w) { return parts[w] > 1; });
      const auto& chosen = best == wholes.end() ? name : *best;
      if (known.insert(chosen).second) out.push_back(chosen);
    }
    return out;
  }

  /// Whether `name` follows from others of `known` by moving elements and by a few additions, comparisons and the like, for
  /// example the boxes that a detector moves apart by class before NonMaxSuppression.
  bool derived(const std::string& name, const std::set<std::string>& known) const {
    std::vector<std::string> open{name};
    for (std::size_t steps = 0; !open.empty(); ++steps) {
      const auto next = std::move(open.back());
      open.pop_back();
      if ((next != name && known.contains(next)) || is(next, value::kind::constant)) continue;
      const auto p = producer_.find(next);
      if (p == producer_.end() || steps == longest_chain) return false;
      const auto& n = g_.nodes[p->second];
      const auto cheap = {&moves, &comparisons, &arithmetic};
      if (std::ranges::none_of(cheap, [&](const auto* names) { return names->contains(n.operator_name); })) return false;
      for (const auto& in : n.inputs)
        if (!in.empty()) open.push_back(in);
    }
    return true;
  }

  std::vector<std::string> without_derived(std::vector<std::string> values) const {
    std::set<std::string> known(values.begin(), values.end());
    for (auto v = values.rbegin(); v != values.rend(); ++v)
      if (!outputs_.contains(*v) && derived(*v, known)) known.erase(*v);
    std::erase_if(values, [&](const auto& v) { return !known.contains(v); });
    return values;
  }

  const partial_graph& g_;
  std::set<std::size_t> refused_;
  std::set<std::string> outputs_;  ///< of the graph
  std::map<std::string, std::size_t> producer_;
};

}  // namespace

std::vector<std::string> outputs_before(const partial_graph& g, std::set<std::size_t> refused) {
  return cutter(g, std::move(refused)).run();
}

std::string kept::text() const {
  if (nodes == of_nodes) return "all nodes";
  const auto some = fmt::format("{} of {} nodes", nodes, of_nodes);
  if (of_weights == 0) return some;
  return fmt::format("{} and {:.0f} % of the weights", some,
                     100.0 * static_cast<double>(weights) / static_cast<double>(of_weights));
}

namespace {

/// The number of elements of a weight, or 0: single numbers (thresholds) and integers (places, sizes) are not weights.
std::int64_t weights_of(const value& v) {
  if (v.is != value::kind::constant && v.is != value::kind::missing) return 0;
  const auto type = v.data.type;
  const bool real = is_real(type) || (size_of(type) == 0 && type != element::text);
  const auto n = element_count(v.data.dims);
  return real && n > 1 ? n : 0;
}

}  // namespace

kept kept_by(const partial_graph& g, const std::vector<std::string>& outputs) {
  static const std::set<std::string> sized{"OneHot", "Resize", "Upsample"};  // their real constants are not weights
  kept out;
  const auto count = [&](const std::vector<std::size_t>& order, std::size_t& nodes, std::int64_t& weights) {
    std::set<std::string> counted;
    for (const auto i : order) {
      const auto& n = g.nodes[i];
      const auto constant = [&](const std::string& name) {
        const auto v = g.values.find(name);
        return v != g.values.end() && v->second.is == value::kind::constant;
      };
      if (std::ranges::any_of(n.outputs, constant)) continue;
      ++nodes;
      if (sized.contains(n.operator_name)) continue;
      for (const auto& name : n.inputs)
        if (const auto v = g.values.find(name); v != g.values.end() && counted.insert(name).second)
          weights += weights_of(v->second);
    }
  };
  std::vector<problem> ignored;
  count(g.order, out.of_nodes, out.of_weights);
  count(order_nodes(g.nodes, outputs, ignored), out.nodes, out.weights);
  return out;
}

}  // namespace onnx2hpp
