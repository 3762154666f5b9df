// An ONNX model as plain values, without protobuf.
#pragma once

#include "read/constant.hpp"
#include "read/file_map.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onnx2hpp {

/// A tensor of the model, or why it cannot be read.
struct stored_tensor {
  constant value;        ///< only its type and shape if it cannot be read
  std::string error{};   ///< why it cannot be read
  std::string remedy{};  ///< what to do about that; "" if the tensor is whole, but this tool does not read such ones
  std::string file{};    ///< the file at fault, unless that is the model
};

struct subgraph;

struct attribute {
  enum class kind { none, real, integer, text, reals, integers, texts, tensor, graph, other };
  kind type = kind::none;
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  stored_tensor t;
  std::shared_ptr<const subgraph> g;
  std::string refers_to;  ///< in a function: the attribute of the call whose value it has
};

using opset_versions = std::map<std::string, std::int64_t>;  ///< by domain; the standard one is ""

struct node {
  std::string name, operator_name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> captured{};  ///< values that its subgraphs (If, Loop, Scan) read from the graph around them
  std::map<std::string, attribute> attributes;
  std::int64_t opset = 0;  ///< version of its domain; 0: none is imported
};

/// A graph inside a node: a branch of If, or the body of Loop or Scan. It may read values of the graphs around it.
struct subgraph {
  std::vector<std::string> inputs, outputs;
  std::vector<node> nodes;
  std::map<std::string, stored_tensor> initializers;
};

/// A model-local function: nodes that stand for one operator.
struct function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::map<std::string, attribute> defaults;
  std::vector<node> nodes;
};

/// An extent of a declared shape: a number, a symbol, or unknown (negative, no symbol).
struct extent {
  std::int64_t value = -1;
  std::string symbol;
};

struct value_info {
  std::string name;
  element type = element::none;
  bool tensor = false;                       ///< not a sequence, map or optional
  std::optional<std::vector<extent>> shape;  ///< none: not even the rank is known
};

struct model {
  std::int64_t ir_version = 0;
  opset_versions opsets;
  std::vector<node> nodes;
  std::vector<function> functions;
  std::map<std::string, stored_tensor> initializers;
  std::vector<std::string> initializer_names;  ///< as the model lists them, but for empty ones
  std::vector<value_info> inputs;              ///< without initializers
  std::vector<value_info> outputs;
  std::map<std::string, value_info> values;           ///< the model's declarations of its inner values
  std::vector<std::filesystem::path> external_files;  ///< that hold tensors
  std::shared_ptr<const file_map> file;
};

/// Reads `path`. Throws file_error if it cannot be read or is not a model.
model load_model(const std::filesystem::path& path);

/// Reads a serialised TensorProto, as ONNX's test data has them. Throws file_error.
constant load_tensor(const std::filesystem::path& path);

}  // namespace onnx2hpp
