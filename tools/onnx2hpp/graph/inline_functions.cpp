#include "graph/inline_functions.hpp"

#include "graph/graph_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace onnx2hpp {

namespace {

constexpr std::size_t max_nodes = 1'000'000, max_copied = 100'000;

using renaming = std::function<void(std::string&)>;
using visitor = std::function<void(node&)>;

void rename_reads(node& n, const renaming& rename, const visitor& visit);

/// A copy of `g` in which values read from the graphs around it are renamed, and each node is visited.
std::shared_ptr<const subgraph> copied(const subgraph& g, const renaming& rename, const visitor& visit) {
  auto out = std::make_shared<subgraph>(g);
  std::set<std::string> own{g.inputs.begin(), g.inputs.end()};
  for (const auto& [name, t] : g.initializers) own.insert(name);
  for (const auto& n : g.nodes) own.insert(n.outputs.begin(), n.outputs.end());
  const renaming outer = [&](std::string& name) {
    if (!own.contains(name)) rename(name);
  };
  for (auto& n : out->nodes) rename_reads(n, outer, visit);
  std::ranges::for_each(out->outputs, outer);
  return out;
}

/// Renames what a node and the graphs inside it read, and visits it and their nodes.
void rename_reads(node& n, const renaming& rename, const visitor& visit) {
  std::ranges::for_each(n.inputs, rename);
  std::ranges::for_each(n.captured, rename);
  for (auto& [name, a] : n.attributes)
    if (a.g) a.g = copied(*a.g, rename, visit);
  visit(n);
}

/// Gives an attribute the value of the call's attribute to which it refers; false if there is none.
bool bind(attribute& a, const node& call, const function& f) {
  const auto given = call.attributes.find(a.refers_to);
  const auto otherwise = f.defaults.find(a.refers_to);
  if (given == call.attributes.end() && otherwise == f.defaults.end()) return false;
  a = given != call.attributes.end() ? attribute(given->second) : attribute(otherwise->second);
  return a.refers_to.empty();
}

/// The number of nodes: this one, and those of the graphs inside it, whose initializers become nodes, too. A node that is
/// large to copy counts as several.
std::size_t count(const node& n) {
  constexpr std::size_t usual_bytes = 1024;
  std::size_t out = 1, bytes = n.name.size();
  const auto add = [&](const std::vector<std::string>& all) {
    for (const auto& s : all) bytes += sizeof s + s.size();
  };
  add(n.inputs);
  add(n.outputs);
  add(n.captured);
  for (const auto& [name, a] : n.attributes) {
    bytes += name.size() + a.s.size() + sizeof(float) * a.floats.size() + sizeof(std::int64_t) * a.ints.size();
    add(a.strings);
    if (!a.g) continue;
    out += a.g->initializers.size();
    for (const auto& inner : a.g->nodes) out += count(inner);
  }
  return out + bytes / usual_bytes;
}

std::string name_of(const node& n) { return n.name.empty() && !n.outputs.empty() ? n.outputs[0] : n.name; }

}  // namespace

inliner::inliner(const model& m) : model_(m) {
  for (const auto& f : m.functions) {
    functions_.emplace(std::tuple(f.domain, f.name, f.overload), &f);
    for (const auto& n : f.nodes)  // the function's own values get new names, those of graphs inside its nodes only later
      for (const auto& [name, a] : n.attributes)
        if (a.g) add_names(a.g->nodes);
  }
  for (const auto& [name, t] : m.initializers) names_.insert(name);
  for (const auto& v : m.inputs) names_.insert(v.name);
  add_names(m.nodes);
}

/// With those of graphs inside nodes.
void inliner::add_names(const std::vector<node>& nodes) {
  for (const auto& n : nodes) {
    names_.insert(n.outputs.begin(), n.outputs.end());
    for (const auto& [name, a] : n.attributes) {
      if (!a.g) continue;
      names_.insert(a.g->inputs.begin(), a.g->inputs.end());
      for (const auto& [constant, t] : a.g->initializers) names_.insert(constant);
      add_names(a.g->nodes);
    }
  }
}

std::vector<node> inliner::run() {
  for (const auto& n : model_.nodes) expand(n, 0);
  return std::exchange(out_, {});
}

void inliner::expand(node n, int depth) {
  // Calls also count: functions that end up empty can still call each other any number of times.
  if ((placed_ += count(n)) > max_nodes)
    throw conversion_error(problem{.reason = "with its functions inlined, the model has over a million nodes",
                                   .remedy = "export it without functions"});
  const auto f = functions_.find({n.domain, n.operator_name, n.overload});
  if (f != functions_.end()) expand(n, *f->second, depth + 1);
  else out_.push_back(std::move(n));
}

void inliner::expand(const node& call, const function& f, int depth) {
  if (depth > deepest_nesting)
    throw conversion_error(problem_of(call, "its function calls itself, or functions are nested too deeply",
                                      "export the model without functions"));
  const std::string prefix = name_of(call);
  std::map<std::string, std::string> actual{{"", ""}};
  for (std::size_t k = 0; k < f.inputs.size(); ++k) actual[f.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
  // An output may be just an input or another output.
  std::vector<node> copies;
  for (std::size_t k = 0; k < f.outputs.size() && k < call.outputs.size(); ++k) {
    if (call.outputs[k].empty()) continue;
    const auto known = actual.find(f.outputs[k]);
    const auto standard = model_.opsets.find("");
    if (known == actual.end()) actual[f.outputs[k]] = call.outputs[k];
    else
      copies.push_back({.name = prefix,
                        .operator_name = "Identity",
                        .domain = "",
                        .overload = "",
                        .inputs = {known->second},
                        .outputs = {call.outputs[k]},
                        .attributes = {},
                        .opset = standard == model_.opsets.end() ? 0 : standard->second});
  }
  const renaming rename = [&](std::string& name) {
    auto known = actual.find(name);
    if (known == actual.end()) known = actual.emplace(name, fresh(prefix + "/" + name)).first;
    name = known->second;
  };
  const visitor take_attributes = [&](node& n) {
    for (auto a = n.attributes.begin(); a != n.attributes.end();) {
      const bool is_graph = !a->second.refers_to.empty() && bind(a->second, call, f) && a->second.g;
      if (is_graph) n.captured.insert(n.captured.end(), call.captured.begin(), call.captured.end());
      a = a->second.refers_to.empty() ? std::next(a) : n.attributes.erase(a);
    }
  };
  for (node n : f.nodes) {
    n.name = n.name.empty() ? "" : prefix + "/" + n.name;
    rename_reads(n, rename, take_attributes);
    std::ranges::for_each(n.outputs, rename);
    expand(std::move(n), depth);
  }
  for (auto& n : copies) expand(std::move(n), depth);
}

inliner::nodes_and_outputs inliner::inner(const node& of, const subgraph& g, const std::vector<std::string>& given,
                                          const std::string& part) {
  const std::string prefix = name_of(of) + "/" + part + (part.empty() ? "" : "/");
  std::map<std::string, std::string> actual{{"", ""}};
  for (std::size_t k = 0; k < g.inputs.size(); ++k) actual[g.inputs[k]] = k < given.size() ? given[k] : "";
  const auto own = [&](const std::string& name) {
    const auto [at, is_new] = actual.try_emplace(name);
    if (is_new) at->second = fresh(prefix + name);
    return at->second;
  };
  copied_ += g.initializers.size();
  for (const auto& n : g.nodes) copied_ += count(n);
  if (copied_ > max_copied)
    throw refusal{fmt::format("the graphs inside nodes stand for over {} nodes", max_copied),
                  "export the model with fewer iterations"};
  out_.clear();
  for (const auto& [name, t] : g.initializers) {
    auto& n = out_.emplace_back();
    n.operator_name = "Constant";
    n.outputs = {own(name)};
    n.opset = of.opset;
    auto& value = n.attributes["value"];
    value.type = attribute::kind::tensor;
    value.t = t;
  }
  for (const auto& n : g.nodes) std::ranges::for_each(n.outputs, own);
  const renaming rename = [&](std::string& name) {
    if (const auto known = actual.find(name); known != actual.end()) name = known->second;
  };
  for (node n : g.nodes) {
    n.name = n.name.empty() ? "" : prefix + n.name;
    rename_reads(n, rename, [](node&) {});
    std::ranges::for_each(n.outputs, rename);
    expand(std::move(n), 0);
  }
  nodes_and_outputs out{std::exchange(out_, {}), g.outputs};
  std::ranges::for_each(out.outputs, rename);
  return out;
}

std::string inliner::fresh(const std::string& name) {
  std::string out = name;
  if (names_.insert(out).second) return out;
  int& tried = tried_.try_emplace(name, 1).first->second;
  do out = fmt::format("{}_{}", name, ++tried);
  while (!names_.insert(out).second);
  return out;
}

}  // namespace onnx2hpp
