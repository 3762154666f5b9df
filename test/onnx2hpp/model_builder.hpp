/// Small ONNX models made in the test itself.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace onnx2hpp_test {

/// Sets an attribute; its type follows from the value's.
inline void set(onnx::NodeProto& n, const std::string& name, std::int64_t value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(value);
}
inline void set(onnx::NodeProto& n, const std::string& name, int value) { set(n, name, std::int64_t{value}); }
inline void set(onnx::NodeProto& n, const std::string& name, float value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(value);
}
inline void set(onnx::NodeProto& n, const std::string& name, const char* value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(value);
}
inline void set(onnx::NodeProto& n, const std::string& name, const std::vector<std::int64_t>& values) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (auto v : values) a->add_ints(v);
}

/// Sets a list, so that {2} is a list of one number.
inline void set_list(onnx::NodeProto& n, const std::string& name, const std::vector<std::int64_t>& values) {
  set(n, name, values);
}

class builder {
 public:
  explicit builder(int opset = 17, int ir = 8) {
    model.set_ir_version(ir);
    model.add_opset_import()->set_version(opset);
    graph().set_name("test");
  }

  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  builder& input(const std::string& name, const std::vector<std::int64_t>& dims, int type = onnx::TensorProto::FLOAT) {
    auto* t = declare(*graph().add_input(), name, type);
    for (auto d : dims) t->mutable_shape()->add_dim()->set_dim_value(d);
    return *this;
  }
  /// Extents as text: numbers, symbols, or "" for an unknown one.
  builder& symbolic_input(const std::string& name, const std::vector<std::string>& dims) {
    extents(*declare(*graph().add_input(), name, onnx::TensorProto::FLOAT)->mutable_shape(), dims);
    return *this;
  }
  builder& output(const std::string& name) {
    declare(*graph().add_output(), name, onnx::TensorProto::FLOAT);
    return *this;
  }
  /// With a declared shape, of extents as those of symbolic_input.
  builder& output(const std::string& name, const std::vector<std::string>& dims) {
    extents(*declare(*graph().add_output(), name, onnx::TensorProto::FLOAT)->mutable_shape(), dims);
    return *this;
  }
  onnx::TensorProto& tensor(const std::string& name, int type, const std::vector<std::int64_t>& dims) {
    auto* t = graph().add_initializer();
    t->set_name(name);
    t->set_data_type(type);
    for (auto d : dims) t->add_dims(d);
    return *t;
  }
  builder& floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    tensor(name, onnx::TensorProto::FLOAT, dims).set_raw_data(values.data(), values.size() * 4);
    return *this;
  }
  /// As many small, different numbers as `dims` need.
  builder& weights(const std::string& name, const std::vector<std::int64_t>& dims) {
    std::int64_t n = 1;
    for (auto d : dims) n *= d;
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.125f * static_cast<float>(i % 13) - 0.5f;
    return floats(name, dims, values);
  }
  builder& ints(const std::string& name, const std::vector<std::int64_t>& values) {
    tensor(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())})
        .set_raw_data(values.data(), values.size() * 8);
    return *this;
  }
  builder& scalar(const std::string& name, float value) { return floats(name, {}, {value}); }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out,
                        const std::string& name = "") {
    auto* n = graph().add_node();
    n->set_op_type(op);
    n->set_name(name);
    for (const auto& i : in) n->add_input(i);
    for (const auto& o : out) n->add_output(o);
    return *n;
  }

  onnx::ModelProto model;

 private:
  static void extents(onnx::TensorShapeProto& s, const std::vector<std::string>& dims) {
    for (const auto& d : dims) {
      auto* dim = s.add_dim();
      if (!d.empty() && d[0] >= '0' && d[0] <= '9') dim->set_dim_value(std::stoll(d));
      else if (!d.empty()) dim->set_dim_param(d);
    }
  }
  static onnx::TypeProto_Tensor* declare(onnx::ValueInfoProto& v, const std::string& name, int type) {
    v.set_name(name);
    auto* t = v.mutable_type()->mutable_tensor_type();
    t->set_elem_type(type);
    return t;
  }
};

/// A temporary folder that lives as long as the object.
class scratch {
 public:
  scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "onnx2hpp.XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path = pattern;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }
  std::filesystem::path save(const std::string& name, const builder& b) const {
    return write(name, b.model.SerializeAsString());
  }

  std::filesystem::path path;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace onnx2hpp_test
