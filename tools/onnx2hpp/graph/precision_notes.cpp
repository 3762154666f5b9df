#include "graph/precision_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

std::vector<std::string> precision_notes(const model& m, const std::vector<node>& nodes,
                                         const std::vector<std::string>& outputs,
                                         const std::map<std::string, value>& values) {
  std::set<element> types;
  for (const auto& v : m.inputs) types.insert(v.type);
  for (const auto& v : m.outputs)
    if (std::ranges::count(outputs, v.name) > 0) types.insert(v.type);
  for (const auto& n : nodes)
    if (const auto to = n.attributes.find("to"); n.operator_name == "Cast" && to != n.attributes.end() && !n.outputs.empty())
      if (const auto v = values.find(n.outputs[0]); v != values.end() && v->second.is == value::kind::layer)
        types.insert(static_cast<element>(to->second.i));
  std::vector<std::string> out;
  for (const auto& v : m.inputs) {
    const auto made = values.find(v.name);
    const auto range = integers_of(v.type);
    if (!range || made == values.end() || made->second.is != value::kind::layer) continue;
    constexpr double most = 1 << 24;
    const bool exact = range->least >= -most && range->most <= most;
    out.push_back(fmt::format("the input {} holds {}; its frames hold the same numbers in float32{}", quote(v.name),
                              name_of(v.type), exact ? "" : ", which are exact up to 2^24 (16777216)"));
  }
  for (const auto t : types) {
    if (!is_real(t) || t == element::float32) continue;
    out.push_back(is_half(t)
                      ? fmt::format("the model computes in {}; dice computes it in float32, with the same weights, and "
                                    "its inputs and outputs are float32",
                                    name_of(t))
                      : "the model computes in DOUBLE; dice rounds its weights to float32 and computes in float32, "
                        "and its inputs and outputs are float32");
  }
  return out;
}

}  // namespace onnx2hpp
