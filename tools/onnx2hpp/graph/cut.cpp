#include "graph/cut.hpp"

#include "graph/graph_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace {

class cutter {
 public:
  cutter(const partial_graph& g, std::set<std::size_t> refused) : g_(g), refused_(std::move(refused)) {
    for (const auto i : g_.order)
      for (const auto& o : g_.nodes[i].outputs) producer_[o] = i;
    // Whoever reads an output that its node lacks here must compute all of this node.
    for (const auto i : g_.order)
      for (const auto& name : reads(g_.nodes[i]))
        if (const auto p = producer_.find(name); p != producer_.end() && is(name, value::kind::missing))
          refused_.insert(p->second);
  }

  std::vector<std::string> run() {
    std::set<std::string> behind, wanted(g_.outputs.begin(), g_.outputs.end());
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
    return out.size() > handful ? joined(out) : out;
  }

 private:
  static constexpr std::size_t handful = 8, longest_chain = 16;

  bool is(const std::string& name, value::kind kind) const {
    const auto v = g_.values.find(name);
    return v != g_.values.end() && v->second.is == kind;
  }
  bool computed(const std::string& name) const {
    const auto v = g_.values.find(name);
    return v != g_.values.end() && v->second.is == value::kind::layer &&
           !is_input(g_.net.layers[static_cast<std::size_t>(v->second.index)]);
  }

  /// The tensor from which a node only takes or arranges elements to get `name`; "" if it computes more.
  std::string whole(const std::string& name) const {
    static constexpr const char* moves[] = {"Cast",  "Flatten", "Gather",  "Identity",  "Reshape",
                                            "Slice", "Split",   "Squeeze", "Transpose", "Unsqueeze"};
    const auto p = producer_.find(name);
    if (p == producer_.end()) return {};
    const auto& n = g_.nodes[p->second];
    const bool moving = std::ranges::any_of(moves, [&](const char* m) { return n.operator_name == m; });
    return moving && !n.inputs.empty() && computed(n.inputs[0]) ? n.inputs[0] : "";
  }

  /// `name`, what it is a part of, what that is a part of …
  std::vector<std::string> chain(std::string name) const {
    std::vector<std::string> out;
    for (; !name.empty() && out.size() < longest_chain; name = whole(name)) out.push_back(name);
    return out;
  }

  /// Many values become few: parts of one tensor (the scores of each class) are replaced by this tensor.
  std::vector<std::string> joined(const std::vector<std::string>& values) const {
    const std::set<std::string> outputs(g_.outputs.begin(), g_.outputs.end());
    std::map<std::string, int> parts;
    for (const auto& name : values)
      for (const auto& w : chain(name)) ++parts[w];
    std::vector<std::string> out;
    std::set<std::string> known;
    for (const auto& name : values) {
      const auto wholes = chain(name);
      auto best = wholes.begin();
      if (!outputs.contains(name)) best = std::find_if(best + 1, wholes.end(), [&](const auto& w) { return parts[w] > 1; });
      const auto& chosen = best == wholes.end() ? name : *best;
      if (known.insert(chosen).second) out.push_back(chosen);
    }
    return out;
  }

  const partial_graph& g_;
  std::set<std::size_t> refused_;
  std::map<std::string, std::size_t> producer_;
};

}  // namespace

std::vector<std::string> outputs_before(const partial_graph& g, std::set<std::size_t> refused) {
  return cutter(g, std::move(refused)).run();
}

std::string kept::text() const {
  const auto some = fmt::format("{} of {} nodes", nodes, of_nodes);
  if (of_weights == 0) return some;
  return fmt::format("{} and {:.0f} % of the weights", some,
                     100.0 * static_cast<double>(weights) / static_cast<double>(of_weights));
}

kept kept_by(const partial_graph& g, const std::vector<std::string>& outputs) {
  kept out;
  const auto count = [&](const std::vector<std::size_t>& order, std::size_t& nodes, std::int64_t& weights) {
    std::set<std::string> counted;
    for (const auto i : order) {
      const auto constant_of = [&](const std::string& name) {
        const auto v = g.values.find(name);
        return v != g.values.end() && v->second.is == value::kind::constant ? &v->second.data : nullptr;
      };
      if (std::ranges::any_of(g.nodes[i].outputs, constant_of)) continue;
      ++nodes;
      for (const auto& name : g.nodes[i].inputs)
        if (const auto* c = constant_of(name); c && counted.insert(name).second) weights += c->elements();
    }
  };
  std::vector<problem> ignored;
  count(g.order, out.of_nodes, out.of_weights);
  count(order_nodes(g.nodes, outputs, ignored), out.nodes, out.weights);
  return out;
}

}  // namespace onnx2hpp
