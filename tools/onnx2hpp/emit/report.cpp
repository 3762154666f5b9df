#include "emit/emit.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

namespace onnx2hpp {

namespace {

using json = nlohmann::ordered_json;

json extents(const shape& s) { return std::vector<std::int64_t>(s.dim, s.dim + s.rank); }

}  // namespace

std::vector<std::int64_t> cut_bytes(const network& net) {
  const auto size = net.layers.size();
  std::vector<std::size_t> last_reader(size, 0);
  for (std::size_t i = 0; i < size; ++i)
    for (int k : net.layers[i].operands) last_reader[static_cast<std::size_t>(k)] = i;
  std::vector<std::int64_t> change(size + 1, 0);
  for (std::size_t i = 0; i < size; ++i)
    if (last_reader[i] > i) {
      change[i + 1] += net.layers[i].result.bytes();
      change[last_reader[i] + 1] -= net.layers[i].result.bytes();
    }
  change.resize(size);
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

std::int64_t parameter_bytes(const layer& l) {
  std::int64_t out = 0;
  for (const auto& p : l.parameters) out += p.extents.bytes();
  return out;
}

std::string emit_report(const network& net, const std::string& name) {
  json report{{"network", name},
              {"namespace", name},
              {"inputs", json::array()},
              {"outputs", json::array()},
              {"layers", json::array()}};
  for (std::size_t id = 0; id < net.layers.size(); ++id) {
    const auto& l = net.layers[id];
    if (is_input(l)) report["inputs"].push_back({{"name", l.onnx_name}, {"shape", extents(l.result)}});
    if (is_output(l)) report["outputs"].push_back({{"name", l.onnx_name}, {"shape", extents(l.result)}});
    report["layers"].push_back({{"id", id},
                                {"name", l.identifier},
                                {"onnx_name", l.onnx_name},
                                {"operator", l.op.onnx_name()},
                                {"inputs", l.operands},
                                {"output_shape", extents(l.result)},
                                {"macs", net.macs(l)},
                                {"parameter_bytes", parameter_bytes(l)},
                                {"activation_bytes", l.result.bytes()}});
  }
  report["cuts"] = json::array();
  const auto cuts = cut_bytes(net);
  for (std::size_t id = 1; id < cuts.size(); ++id) report["cuts"].push_back({{"before", id}, {"bytes", cuts[id]}});
  // The model's names are not always UTF-8.
  return report.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace onnx2hpp
