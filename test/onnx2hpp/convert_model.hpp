/// Runs the parts of onnx2hpp inside the test.
#pragma once

#include "emit/weights.hpp"
#include "graph/convert.hpp"
#include "graph/names.hpp"
#include "model_builder.hpp"
#include "read/model.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace onnx2hpp_test {

using floats = std::vector<float>;
using dice::tensor::shape;
using onnx2hpp::conversion;
using onnx2hpp::network;

/// Inputs "x" (and "z"), output "y", one node between.
inline builder one(const std::string& op, const shape& x, int opset = 24, const shape& z = {}) {
  builder b(opset);
  b.input("x", {x.dim, x.dim + x.rank}).output("y");
  if (z.rank > 0) b.input("z", {z.dim, z.dim + z.rank});
  if (z.rank > 0) b.node(op, {"x", "z"}, {"y"}, "n");
  else b.node(op, {"x"}, {"y"}, "n");
  return b;
}
/// The first node.
inline onnx::NodeProto& node_of(builder& b) { return *b.graph().mutable_node(0); }

inline network convert(const builder& b, const conversion& settings = {}) {
  const scratch folder;
  const auto model = onnx2hpp::load_model(folder.save("m.onnx", b));
  auto net = onnx2hpp::convert(model, settings, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
  onnx2hpp::name_layers(net);
  return net;
}

/// Shape of the network's last layer, its output.
inline shape result(const network& net) { return net.layers.back().result; }

/// All problems and the remedy as one text; empty if the model converts.
inline std::string problems(const builder& b, const conversion& settings = {}) {
  try {
    convert(b, settings);
  } catch (const onnx2hpp::conversion_error& e) {
    std::string out;
    for (const auto& p : e.problems)
      out +=
          p.node + " (" + p.operator_name + ", opset " + std::to_string(p.opset) + "): " + p.reason + "; " + p.remedy + "\n";
    return out + e.remedy;
  }
  return "";
}

/// Operators in order, without inputs and outputs.
inline std::string operators(const network& net) {
  std::string out;
  for (const auto& l : net.layers)
    if (!is_input(l) && !is_output(l)) out += (out.empty() ? "" : " ") + l.op.onnx_name();
  return out;
}

template <class Op> const Op& first(const network& net) {
  for (const auto& l : net.layers)
    if (const auto* op = l.op.get_if<Op>()) return *op;
  throw std::logic_error("no such layer");
}

/// The elements written to the data section for parameter k of the first layer with parameters.
inline std::vector<float> written(const network& net, std::size_t k = 0) {
  const scratch folder;
  dice::files::writer file((folder.path / "w").string());
  const auto layout = onnx2hpp::lay_out_weights(net);
  write_weights(layout, {"test", "", [] { return std::string(64, '0'); }}, file);
  file.commit();
  const std::string bytes = read_file(folder.path / "w");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  for (std::size_t i = 0; i < net.layers.size(); ++i)
    if (net.layers[i].parameters.size() > k) {
      std::vector<float> out(static_cast<std::size_t>(net.layers[i].parameters[k].extents.elements()));
      std::memcpy(out.data(), bytes.data() + 8 + header + layout.offsets[i][k], out.size() * 4);
      return out;
    }
  throw std::logic_error("no such parameter");
}

}  // namespace onnx2hpp_test
