#include "graph/versions.hpp"

#include "graph/registry.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

namespace {

constexpr std::int64_t first_ir = 3, last_ir = 14;

}  // namespace

void check_versions(const model& m, const messages& out, std::vector<problem>& problems) {
  if (m.ir_version < first_ir)
    problems.push_back({.reason = fmt::format("the model has IR version {}; versions {} to {} are supported", m.ir_version,
                                              first_ir, last_ir),
                        .remedy = "export it again, or convert it with onnx.version_converter"});
  if (m.ir_version > last_ir)
    out.warning(fmt::format("the model has IR version {}; versions {} to {} are known", m.ir_version, first_ir, last_ir));
  const auto opset = m.opsets.find("");
  if (opset == m.opsets.end())
    problems.push_back({.reason = "the model imports no version of the standard operators", .remedy = "export it again"});
  else if (opset->second < first_opset || opset->second > last_opset)
    problems.push_back({.reason = fmt::format("the model uses opset {}; opsets {} to {} are supported", opset->second,
                                              first_opset, last_opset),
                        .remedy = "export it with one of these, or convert it with onnx.version_converter"});
}

}  // namespace onnx2hpp
