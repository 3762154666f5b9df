#include "emit/operators.hpp"

#include "graph/registry.hpp"

#include "dice/meta/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace onnx2hpp {

namespace {

std::string row(const std::string& name, const std::string& exist, const char* inputs, const std::string& notes) {
  auto out = fmt::format("{:<25}  {:<6}  {:<11}  {}", name, exist, inputs, notes);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string row(const std::string& name, const known_operator& o) {
  const char* inputs = o.folds_shapes && !o.import ? "shapes" : o.import ? "both" : "constants";
  const int first = std::max(o.exists.first, first_opset), last = o.exists.last;
  auto out = row(name, first == last ? std::to_string(last) : fmt::format("{}–{}", first, last), inputs, o.notes);
  std::string all;
  for (const auto& [attribute, has] : o.attributes) {
    all += (all.empty() ? "    " : ", ") + attribute;
    if (has.first > o.exists.first) all += fmt::format(" (from {})", has.first);
    if (has.last < o.exists.last) all += fmt::format(" (before {})", has.last + 1);
  }
  return all.empty() ? out : out + all + "\n";
}

bool standard(const std::string& name) { return operators().contains(name) || unread_operators().contains(name); }

std::set<std::string> all_names() {
  std::set<std::string> out;
  for (const auto& [name, o] : operators()) out.insert(name);
  for (const auto& [name, why] : unread_operators()) out.insert(name);
  return out;
}

}  // namespace

std::string list_operators(const std::vector<std::string>& names) {
  std::string out = row("operator", "opsets", "inputs", "notes; attributes");
  std::set<std::string> chosen;
  for (const auto& name : names) {
    if (name.empty()) continue;  // CLI11 gives this if there are none
    if (!standard(name)) {
      dice::meta::nearest known(name);
      const auto all = all_names();
      for (const auto& other : all) known.look_at(other);
      throw usage_error(fmt::format("--list-operators: ONNX has no standard operator {}{}", quote(name),
                                    known.best().empty() ? "" : fmt::format("; did you mean {}?", known.best())));
    }
    chosen.insert(name);
  }
  for (const auto& name : chosen.empty() ? all_names() : chosen)
    if (const auto known = operators().find(name); known != operators().end()) out += row(name, known->second);
    else out += row(name, "none", "–", unread_operators().at(name));
  out.pop_back();
  return out;
}

std::string operators_of(const std::vector<problem>& problems) {
  std::set<std::string> names;
  for (const auto& p : problems)
    if (p.about_operator && standard(p.operator_name)) names.insert(p.operator_name);
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace onnx2hpp
