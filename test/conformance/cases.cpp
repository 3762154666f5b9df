#include "cases.hpp"

#include <onnx/shape_inference/implementation.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace conformance {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> case_names(const fs::path& data) {
  std::vector<std::string> out;
  for (const char* folder : {"node", "pytorch-converted", "pytorch-operator", "simple"})
    for (const auto& e : fs::directory_iterator(data / folder))
      out.push_back(std::string(folder) + "/" + e.path().filename().string());
  std::ranges::sort(out);
  return out;
}

test_case read_case(const fs::path& data, const std::string& name) {
  test_case c{.name = name, .folder = data / name, .model = {}, .inputs = {}};
  if (!c.model.ParseFromString(read_file(c.folder / "model.onnx"))) throw std::runtime_error(name + " holds no model");
  std::set<std::string> initializers;
  for (const auto& t : c.model.graph().initializer()) initializers.insert(t.name());
  for (const auto& v : c.model.graph().input())
    if (!initializers.contains(v.name())) c.inputs.push_back(v);
  return c;
}

onnx::TensorProto read_tensor(const test_case& c, const std::string& file, const onnx::ValueInfoProto& declared) {
  onnx::TensorProto t;
  if (!t.ParseFromString(read_file(c.folder / "test_data_set_0" / file))) t.Clear();
  // The case was made with numpy, which has no bfloat16: its bits are stored as UINT16.
  const auto type = declared.type().tensor_type().elem_type();
  if (type == onnx::TensorProto::BFLOAT16 && t.data_type() == onnx::TensorProto::UINT16) t.set_data_type(type);
  return t;
}

onnx::ModelProto frozen(const test_case& c, const std::vector<int>& kept) {
  auto model = c.model;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    if (std::ranges::count(kept, static_cast<int>(k))) continue;
    auto& value = *model.mutable_graph()->add_initializer();
    value = read_tensor(c, "input_" + std::to_string(k) + ".pb", c.inputs[k]);
    value.set_name(c.inputs[k].name());
  }
  constexpr int first_opset = 7;  // the first that onnx2hpp reads
  for (const auto& o : model.opset_import())
    if (o.domain().empty() && o.version() < first_opset) {
      onnx::shape_inference::InferShapes(model);  // the conversion needs all shapes
      return onnx::version_conversion::ConvertVersion(model, first_opset);
    }
  return model;
}

std::string why_not(const std::vector<int>& types, const std::string& role, const onnx::ValueInfoProto& v) {
  const auto is = role + " " + v.name() + " is ";
  if (!v.type().has_tensor_type()) return is + "no tensor";
  const auto type = v.type().tensor_type().elem_type();
  return std::ranges::count(types, type) ? "" : is + onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(type));
}

}  // namespace conformance
