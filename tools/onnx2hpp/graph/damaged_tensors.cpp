#include "graph/damaged_tensors.hpp"

#include "graph/graph_order.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace onnx2hpp {

void require_tensors(const model& m, const std::vector<node>& nodes, const std::vector<std::size_t>& order,
                     const std::vector<std::string>& outputs, std::vector<problem>& problems) {
  std::map<std::string, std::pair<const stored_tensor*, int>> files;
  std::set<const stored_tensor*> seen;
  const auto look_at = [&](const std::string& what, const stored_tensor& t) {
    if (t.remedy.empty() || !seen.insert(&t).second) return;
    if (t.file.empty()) problems.push_back({.node = what, .reason = t.error, .remedy = t.remedy});
    else ++files.try_emplace(t.file, &t, 0).first->second.second;
  };
  const auto find = [&](const std::vector<std::string>& names) {
    for (const auto& name : names)
      if (const auto t = m.initializers.find(name); t != m.initializers.end())
        look_at("initializer " + quote(name), t->second);
  };
  for (const auto i : order) {
    find(reads(nodes[i]));
    for (const auto& [name, a] : nodes[i].attributes) look_at(display_name(nodes[i]), a.t);
  }
  find(outputs);
  for (const auto& [file, t] : files)
    problems.push_back({.node = "file " + quote(file),
                        .reason = fmt::format("it should hold {} of the model's tensors, but {}", t.second, t.first->error),
                        .remedy = t.first->remedy});
  if (!files.empty()) throw conversion_error(problems);
}

}  // namespace onnx2hpp
