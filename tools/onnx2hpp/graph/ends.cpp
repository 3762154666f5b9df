#include "graph/ends.hpp"

#include "graph/convert.hpp"
#include "graph/graph_order.hpp"
#include "graph/names.hpp"
#include "read/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace {

/// The value that `name` probably means: the one that the node or layer of this name computes, or one with a similar name.
std::string meant(const std::string& name, const model& m, const std::vector<node>& nodes) {
  std::vector<std::string> values;
  for (const auto& v : m.inputs) values.push_back(v.name);
  for (const auto& n : nodes) {
    const bool has_name = n.name == name || (!n.name.empty() && identifiers().make(n.name, "layer") == name);
    if (has_name && !n.outputs.empty()) return fmt::format("did you mean {}?", quote(n.outputs[0]));
    values.insert(values.end(), n.outputs.begin(), n.outputs.end());
  }
  return hints(values).for_name(name, "--outputs takes names of values, as a viewer of ONNX files shows them");
}

}  // namespace

std::vector<std::string> distinct(const char* what, const std::vector<std::string>& names, std::vector<problem>& problems) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& name : names)
    if (!name.empty() && seen.insert(name).second) out.push_back(name);
    else
      problems.push_back({.reason = name.empty() ? fmt::format("an {} has no name", what)
                                                 : fmt::format("two {}s have the name {}", what, quote(name)),
                          .remedy = "give each value its own name"});
  return out;
}

std::vector<std::string> distinct(const char* what, const std::vector<value_info>& values, std::vector<problem>& problems) {
  std::vector<std::string> names;
  for (const auto& v : values) names.push_back(v.name);
  return distinct(what, names, problems);
}

std::vector<std::string> choose_outputs(const model& m, const std::vector<node>& nodes, const conversion& settings,
                                        std::vector<problem>& problems) {
  std::vector<std::string> names = settings.outputs;
  if (names.empty()) names = distinct("output", m.outputs, problems);
  if (names.empty()) problems.push_back({.reason = "the model has no output", .remedy = "name some with --outputs"});
  for (const auto& name : settings.outputs) {
    const bool known = std::ranges::any_of(nodes, [&](const node& n) { return std::ranges::count(n.outputs, name) > 0; }) ||
                       std::ranges::any_of(m.inputs, [&](const value_info& v) { return v.name == name; });
    if (!known)
      throw usage_error(fmt::format("--outputs: the model has no value {}; {}", quote(name), meant(name, m, nodes)));
  }
  return names;
}

std::set<std::string> inputs_cut_off(const model& m, const std::vector<node>& nodes, const std::vector<std::size_t>& order,
                                     const std::vector<std::string>& outputs, const conversion& settings) {
  std::set<std::string> out;
  if (settings.outputs.empty()) return out;
  for (const auto& v : m.inputs) out.insert(v.name);
  for (const auto i : order)
    for (const auto& name : reads(nodes[i])) out.erase(name);
  for (const auto& name : outputs) out.erase(name);
  return out;
}

}  // namespace onnx2hpp
