#include "outcome.hpp"

#include "emit/sha256.hpp"
#include "graph/names.hpp"

#include "dice/graph/ops/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace conformance {

namespace fs = std::filesystem;

namespace {

/// Element types that are float32 in dice.
const std::vector<int> reals_of_dice = {onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE, onnx::TensorProto::FLOAT16};

/// Element types that graph inputs can have. ONNX's cases have no integers that float32 does not hold.
const std::vector<int> inputs_of_dice = [] {
  using tensor = onnx::TensorProto;
  auto out = reals_of_dice;
  out.insert(out.end(), {tensor::INT64, tensor::INT32, tensor::INT16, tensor::INT8, tensor::UINT64, tensor::UINT32,
                         tensor::UINT16, tensor::UINT8, tensor::BOOL});
  return out;
}();

bool is_empty(const onnx::ValueInfoProto& v) {
  return std::ranges::any_of(v.type().tensor_type().shape().dim(),
                             [](const auto& d) { return d.has_dim_value() && d.dim_value() == 0; });
}

/// The element types that each output of a network stands for.
std::vector<std::vector<int>> types_of_outputs(const onnx2hpp::network& net) {
  std::vector<std::vector<int>> out;
  for (const auto& l : net.layers)
    if (const auto* op = l.op.get_if<dice::ops::output>())
      out.push_back(op->number == dice::tensor::number::int64     ? std::vector<int>{onnx::TensorProto::INT64}
                    : op->number == dice::tensor::number::int32   ? std::vector<int>{onnx::TensorProto::INT32}
                    : op->number == dice::tensor::number::uint8   ? std::vector<int>{onnx::TensorProto::UINT8}
                    : op->number == dice::tensor::number::boolean ? std::vector<int>{onnx::TensorProto::BOOL}
                                                                  : reals_of_dice);
  return out;
}

/// Cases that onnx2hpp converts and whose expected results dice does not compute, and why.
const std::map<std::string, std::string> of_other_results = {
    {"node/test_resize_downsample_scales_cubic_align_corners",
     "Resize: ONNX's corners are not aligned if an extent was rounded; those of PyTorch, ONNX Runtime and dice are"},
    {"node/test_resize_downsample_scales_linear_align_corners",
     "Resize: ONNX's corners are not aligned if an extent was rounded; those of PyTorch, ONNX Runtime and dice are"}};

}  // namespace

void write_file(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read_file(path) == text) return;
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string digest(const std::string& text) {
  onnx2hpp::sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

outcome convert(const onnx::ModelProto& model, const fs::path& file) {
  outcome out;
  const auto bytes = model.SerializeAsString();
  out.model_digest = digest(bytes);
  write_file(file, bytes);
  try {
    out.model = onnx2hpp::load_model(file);
    out.network = onnx2hpp::convert(out.model, {}, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
    onnx2hpp::name_layers(*out.network);
  } catch (const onnx2hpp::conversion_error& e) {
    out.problems = e.problems;
  }
  return out;
}

outcome convert(const test_case& c, const std::vector<int>& kept, const fs::path& file) {
  outcome out;
  try {
    out = convert(frozen(c, kept), file);
  } catch (const std::exception& e) {  // the conversion of the opset
    out.problems = {{.reason = e.what()}};
  }
  out.kept = kept;
  return out;
}

outcome convert(const test_case& c, const fs::path& file) {
  const auto inputs = [&](const std::vector<int>& types) {
    std::vector<int> kept;
    for (std::size_t k = 0; k < c.inputs.size(); ++k)
      if (why_not(types, "input", c.inputs[k]).empty() && !is_empty(c.inputs[k])) kept.push_back(static_cast<int>(k));
    return kept;
  };
  auto kept = inputs(inputs_of_dice);
  auto out = convert(c, kept, file);
  if (const auto reals = inputs(reals_of_dice); !out.network && !reals.empty() && reals != kept)
    out = convert(c, kept = reals, file);
  while (!out.network && kept.size() > 1) {
    kept.pop_back();
    out = convert(c, kept, file);
  }
  return out;
}

std::string reason(const test_case& c, const outcome& o) {
  std::set<std::string> unknown, constants_only;
  for (const auto& p : o.problems) {
    if (p.reason == "the operator is not supported") unknown.insert(p.operator_name);
    if (p.reason.starts_with("the operator is supported on constants only")) constants_only.insert(p.operator_name);
  }
  if (!unknown.empty()) return fmt::format("operators not supported: {}", fmt::join(unknown, ", "));
  if (!constants_only.empty()) return fmt::format("supported on constants only: {}", fmt::join(constants_only, ", "));
  using tensor = onnx::TensorProto;
  if (o.kept.empty() && !c.inputs.empty()) {
    if (is_empty(c.inputs[0])) return "input " + c.inputs[0].name() + " has no elements";
    return why_not(inputs_of_dice, "input", c.inputs[0]);
  }
  const auto types = o.network ? types_of_outputs(*o.network) : std::vector<std::vector<int>>();
  auto any = reals_of_dice;
  any.insert(any.end(), {tensor::INT64, tensor::INT32, tensor::UINT8, tensor::BOOL});
  for (std::size_t k = 0; const auto& v : c.model.graph().output()) {
    const auto why = why_not(o.network ? types.at(k++) : any, "output", v);
    if (!why.empty()) return why;
  }
  if (o.network) {
    const auto other = of_other_results.find(c.name);
    return other == of_other_results.end() ? "" : other->second;
  }
  for (const auto& p : o.problems)
    if (!p.operator_name.empty()) return p.operator_name + ": " + p.reason;
  const auto& p = o.problems.at(0);
  return p.node.empty() ? p.reason : p.node + ": " + p.reason;
}

}  // namespace conformance
