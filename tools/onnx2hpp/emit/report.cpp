#include "emit/emit.hpp"

#include "dice/frames/numbers.hpp"
#include "dice/graph/ops/output.hpp"
#include "dice/schedule/carried.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

namespace onnx2hpp {

namespace {

using nlohmann::ordered_json;

ordered_json extents(const shape& s) { return std::vector<std::int64_t>(s.dim, s.dim + s.rank); }

ordered_json expected(const comparison& c) {
  ordered_json out{{"tolerance", c.tolerance.value_or(1e-4)},
                   {"frames", c.frames},
                   {"tensors", ordered_json::array()},
                   {"skipped", c.skipped}};
  for (const auto& t : c.tensors) {
    out["tensors"].push_back({{"name", t.name},
                              {"layer", t.layer},
                              {"frames", t.frames},
                              {"max_error", t.error.largest},
                              {"relative_error", t.error.relative()}});
    if (t.type != dice::tensor::number::float32) out["tensors"].back()["unequal_numbers"] = t.error.unequal;
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> cut_bytes(const network& net) {
  std::vector<dice::graph::layer_info> layers;
  std::vector<dice::graph::edge> edges;
  for (const auto& l : net.layers) {
    const auto in = net.operand_shapes(l);
    const int id = static_cast<int>(layers.size()), first = static_cast<int>(edges.size());
    for (int k = 0; k < static_cast<int>(l.operands.size()); ++k)
      edges.push_back({l.operands[k], id, l.op.joins(k, in, l.result)});
    auto& about = layers.emplace_back();
    about.output = dice::tensor::type(l.result);
    about.first_edge = first;
    about.edges = static_cast<int>(l.operands.size());
  }
  std::vector<int> ids(layers.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<std::int64_t> change(layers.size() + 1, 0);
  dice::schedule::each_crossing({layers, edges}, ids, [&](int t, int first, int end, int times) {
    const auto bytes = times * layers[t].output.bytes();
    change[static_cast<std::size_t>(first) + 1] += bytes;
    change[static_cast<std::size_t>(end) + 1] -= bytes;
  });
  change.resize(layers.size());
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

std::int64_t parameter_bytes(const layer& l) {
  std::int64_t out = 0;
  for (const auto& p : l.parameters) out += dice::tensor::type(p.extents).bytes();
  return out;
}

std::string emit_report(const network& net, const std::string& name, const comparison* compared) {
  ordered_json report{{"network", name},
                      {"namespace", name},
                      {"inputs", ordered_json::array()},
                      {"outputs", ordered_json::array()},
                      {"layers", ordered_json::array()}};
  for (std::size_t id = 0; id < net.layers.size(); ++id) {
    const auto& l = net.layers[id];
    if (is_input(l)) report["inputs"].push_back({{"name", l.onnx_name}, {"shape", extents(l.result)}});
    if (is_output(l))
      report["outputs"].push_back({{"name", l.onnx_name},
                                   {"shape", extents(l.result)},
                                   {"type", dice::frames::type_name(l.op.get_if<dice::ops::output>()->number)}});
    report["layers"].push_back({{"id", id},
                                {"name", l.identifier},
                                {"onnx_name", l.onnx_name},
                                {"operator", l.op.onnx_name()},
                                {"inputs", l.operands},
                                {"output_shape", extents(l.result)},
                                {"macs", net.macs(l)},
                                {"parameter_bytes", parameter_bytes(l)},
                                {"activation_bytes", dice::tensor::type(l.result).bytes()}});
  }
  report["cuts"] = ordered_json::array();
  const auto cuts = cut_bytes(net);
  for (std::size_t id = 1; id < cuts.size(); ++id) report["cuts"].push_back({{"before", id}, {"bytes", cuts[id]}});
  if (!net.notes.empty()) report["notes"] = net.notes;
  if (compared) report["expected"] = expected(*compared);
  // The model's names are not always UTF-8.
  return report.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace onnx2hpp
