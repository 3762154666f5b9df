// ONNX's backend cases as stored in Debian's libonnx-testdata.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <vector>

namespace conformance {

struct test_case {
  std::string name;  ///< node/test_add
  std::filesystem::path folder;
  onnx::ModelProto model;
  std::vector<onnx::ValueInfoProto> inputs;  ///< without initializers; input_0.pb … hold their values
};

/// The names of all cases below `data`, in order.
std::vector<std::string> case_names(const std::filesystem::path& data);

/// Throws std::runtime_error if the model cannot be read.
test_case read_case(const std::filesystem::path& data, const std::string& name);

/// The value of input or output `declared` in `file` (input_0.pb); without an element type if it is not a tensor but a
/// sequence.
onnx::TensorProto read_tensor(const test_case& c, const std::string& file, const onnx::ValueInfoProto& declared);

/// The case as a model in which the inputs in `kept` stay and the others become constants, with opset 7 or later. Throws
/// what ONNX's own conversion throws.
onnx::ModelProto frozen(const test_case& c, const std::vector<int>& kept);

/// "output y is DOUBLE", or "" for a tensor of one of `types`.
std::string why_not(const std::vector<int>& types, const std::string& role, const onnx::ValueInfoProto& v);

std::string read_file(const std::filesystem::path& path);

}  // namespace conformance
