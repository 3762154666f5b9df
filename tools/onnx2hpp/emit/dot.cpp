#include "emit/emit.hpp"

#include <fmt/format.h>

#include <iterator>

namespace onnx2hpp {

std::string emit_dot(const network& net, const std::string& name) {
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\"];\n", name);
  for (std::size_t id = 0; id < net.layers.size(); ++id) {
    const auto& l = net.layers[id];
    // Identifiers and numbers only: nothing of the model's own text.
    fmt::format_to(put, "  l{} [label=\"{} {}\\n{} {}\"{}];\n", id, id, l.identifier, l.op.onnx_name(), written(l.result),
                   is_input(l) || is_output(l) ? ", style=rounded" : "");
    for (int k : l.operands) fmt::format_to(put, "  l{} -> l{} [label=\"{}\"];\n", k, id, written(net.layers[k].result));
  }
  fmt::format_to(put, "}}\n");
  return fmt::to_string(out);
}

}  // namespace onnx2hpp
