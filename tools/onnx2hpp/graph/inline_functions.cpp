#include "graph/inline_functions.hpp"

#include "graph/graph_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace onnx2hpp {

namespace {

class inliner {
 public:
  explicit inliner(const model& m) : model_(m) {
    for (const auto& f : m.functions) functions_.emplace(std::tuple(f.domain, f.name, f.overload), &f);
    for (const auto& [name, t] : m.initializers) names_.insert(name);
    for (const auto& v : m.inputs) names_.insert(v.name);
    for (const auto& n : m.nodes) names_.insert(n.outputs.begin(), n.outputs.end());
  }

  std::vector<node> run() {
    for (const auto& n : model_.nodes) expand(n, 0);
    return std::move(out_);
  }

 private:
  static constexpr int deepest = 64;
  static constexpr std::size_t max_nodes = 1'000'000;

  void expand(node n, int depth) {
    // Calls also count: functions that end up empty can still call each other any number of times.
    if (placed_++ == max_nodes)
      throw conversion_error(problem{.reason = "with its functions inlined, the model has over a million nodes",
                                     .remedy = "export it without functions"});
    const auto f = functions_.find({n.domain, n.operator_name, n.overload});
    if (f != functions_.end()) expand(n, *f->second, depth + 1);
    else out_.push_back(std::move(n));
  }

  void expand(const node& call, const function& f, int depth) {
    if (depth > deepest)
      throw conversion_error(problem_of(call, "its function calls itself, or functions are nested too deeply",
                                        "export the model without functions"));
    const std::string prefix = call.name.empty() && !call.outputs.empty() ? call.outputs[0] : call.name;
    std::map<std::string, std::string> actual{{"", ""}};
    for (std::size_t k = 0; k < f.inputs.size(); ++k) actual[f.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
    // An output may be just an input or another output.
    std::vector<node> copies;
    for (std::size_t k = 0; k < f.outputs.size() && k < call.outputs.size(); ++k) {
      if (call.outputs[k].empty()) continue;
      const auto known = actual.find(f.outputs[k]);
      if (known == actual.end()) actual[f.outputs[k]] = call.outputs[k];
      else
        copies.push_back({.name = prefix,
                          .operator_name = "Identity",
                          .domain = "",
                          .overload = "",
                          .inputs = {known->second},
                          .outputs = {call.outputs[k]},
                          .attributes = {},
                          .opset = standard_opset()});
    }
    const auto rename = [&](std::string& name) {
      const auto known = actual.find(name);
      if (known == actual.end()) {
        const std::string inner = fresh(prefix + "/" + name);
        actual.emplace(name, inner);
        name = inner;
      } else {
        name = known->second;
      }
    };
    for (node n : f.nodes) {
      n.name = n.name.empty() ? "" : prefix + "/" + n.name;
      std::ranges::for_each(n.inputs, rename);
      std::ranges::for_each(n.captured, rename);
      std::ranges::for_each(n.outputs, rename);
      for (auto a = n.attributes.begin(); a != n.attributes.end();)
        a = bind(a->second, call, f) ? std::next(a) : n.attributes.erase(a);
      expand(std::move(n), depth);
    }
    for (auto& n : copies) expand(std::move(n), depth);
  }

  /// Gives an attribute that refers to an attribute of the call that one's value; false if there is none.
  static bool bind(attribute& a, const node& call, const function& f) {
    if (a.refers_to.empty()) return true;
    const auto given = call.attributes.find(a.refers_to);
    const auto otherwise = f.defaults.find(a.refers_to);
    if (given == call.attributes.end() && otherwise == f.defaults.end()) return false;
    a = given != call.attributes.end() ? attribute(given->second) : attribute(otherwise->second);
    return a.refers_to.empty();
  }

  std::string fresh(const std::string& name) {
    std::string out = name;
    for (int k = 2; !names_.insert(out).second; ++k) out = fmt::format("{}_{}", name, k);
    return out;
  }

  std::int64_t standard_opset() const {
    const auto found = model_.opsets.find("");
    return found == model_.opsets.end() ? 0 : found->second;
  }

  const model& model_;
  std::map<std::tuple<std::string, std::string, std::string>, const function*> functions_;
  std::set<std::string> names_;
  std::size_t placed_ = 0;
  std::vector<node> out_;
};

}  // namespace

std::vector<node> inline_functions(const model& m) { return inliner(m).run(); }

}  // namespace onnx2hpp
