#include "graph/graph_order.hpp"

#include <functional>
#include <map>
#include <queue>

namespace onnx2hpp {

std::vector<std::string> reads(const node& n) {
  auto out = n.inputs;
  out.insert(out.end(), n.captured.begin(), n.captured.end());
  return out;
}

std::string display_name(const node& n) {
  if (!n.name.empty()) return "node " + quote(n.name);
  for (const auto& o : n.outputs)
    if (!o.empty()) return "the unnamed node that computes " + quote(o);
  return "an unnamed node without outputs";
}

problem problem_of(const node& n, std::string reason, std::string remedy) {
  return {.node = display_name(n),
          .operator_name = (n.domain.empty() ? "" : n.domain + "::") + n.operator_name,
          .opset = static_cast<int>(n.opset),
          .reason = std::move(reason),
          .remedy = std::move(remedy)};
}

std::vector<std::size_t> order_nodes(const std::vector<node>& nodes, const std::vector<std::string>& outputs,
                                     std::vector<problem>& problems) {
  std::map<std::string, std::size_t> producer;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& o : nodes[i].outputs)
      if (!o.empty() && !producer.emplace(o, i).second)
        problems.push_back(problem_of(nodes[i], "its output " + quote(o) + " is also the output of another node",
                                      "give each value its own name"));
  std::vector<bool> needed(nodes.size());
  std::vector<std::size_t> open;
  const auto need = [&](const std::string& name) {
    const auto p = producer.find(name);
    if (p == producer.end() || needed[p->second]) return;
    needed[p->second] = true;
    open.push_back(p->second);
  };
  for (const auto& o : outputs) need(o);
  while (!open.empty()) {
    const auto i = open.back();
    open.pop_back();
    for (const auto& name : reads(nodes[i])) need(name);
  }
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<int> waits(nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::size_t count = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    ++count;
    for (const auto& name : reads(nodes[i]))
      if (const auto p = producer.find(name); p != producer.end()) {
        readers[p->second].push_back(i);
        ++waits[i];
      }
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> out;
  while (!ready.empty()) {
    const auto i = ready.top();
    ready.pop();
    out.push_back(i);
    for (auto r : readers[i])
      if (--waits[r] == 0) ready.push(r);
  }
  if (out.size() != count)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (needed[i] && waits[i] > 0) {
        problems.push_back(problem_of(nodes[i], "it depends on its own output", "export the model again"));
        break;
      }
  return out;
}

}  // namespace onnx2hpp
