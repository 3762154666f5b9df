#include "emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace onnx2hpp {

std::string written(const shape& s) {
  std::string out;
  for (int a = 0; a < s.rank; ++a) out += (a ? "x" : "") + std::to_string(s[a]);
  return out.empty() ? "scalar" : out;
}

std::string emit_list(const network& net) {
  std::size_t name = 4, kind = 8, extents = 5;
  for (const auto& l : net.layers) {
    name = std::max(name, l.identifier.size());
    kind = std::max(kind, l.op.onnx_name().size());
    extents = std::max(extents, written(l.result).size());
  }
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  const auto row = [&](const auto& id, const auto& identifier, const auto& op, const auto& s, const auto& macs,
                       const auto& bytes, const auto& cut, const auto& inputs) {
    fmt::format_to(put, "{:>4}  {:<{}}  {:<{}}  {:<{}}  {:>13}  {:>12}  {:>10}  {}\n", id, identifier, name, op, kind, s,
                   extents, macs, bytes, cut, inputs);
  };
  row("id", "name", "operator", "shape", "MACs", "weight bytes", "cut bytes", "inputs");
  const auto cuts = cut_bytes(net);
  std::int64_t macs = 0, bytes = 0;
  for (std::size_t id = 0; id < net.layers.size(); ++id) {
    const auto& l = net.layers[id];
    std::string inputs;
    for (int k : l.operands) inputs += (inputs.empty() ? "" : " ") + std::to_string(k);
    row(id, l.identifier, l.op.onnx_name(), written(l.result), net.macs(l), parameter_bytes(l), cuts[id],
        inputs.empty() ? "-" : inputs);
    macs += net.macs(l);
    bytes += parameter_bytes(l);
  }
  fmt::format_to(put, "{} layers, {} MACs, {} bytes of weights\n", net.layers.size(), macs, bytes);
  return fmt::to_string(out);
}

}  // namespace onnx2hpp
