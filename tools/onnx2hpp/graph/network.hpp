// The network between import and output: layers in order, each reading earlier ones.
#pragma once

#include "graph/operation.hpp"
#include "read/constant.hpp"

#include "dice/tensor/tensor.hpp"

#include <map>
#include <string>
#include <vector>

namespace onnx2hpp {

using dice::tensor::shape;

/// The type in which tensors of the model's type `type` leave a network.
constexpr dice::tensor::number number_of(element type) {
  using dice::tensor::number;
  return type == element::int64     ? number::int64
         : type == element::int32   ? number::int32
         : type == element::uint8   ? number::uint8
         : type == element::boolean ? number::boolean
                                    : number::float32;
}

/// A constant of a layer in the form that the layer needs: float32, made from `source` when it is written.
struct parameter {
  const char* role;  ///< "weight", "bias" …: part of its name in the weights file
  constant source;
  shape extents;               ///< after the transposition
  bool transposed = false;     ///< `source` is a matrix (columns of the result, rows)
  double scale = 1;            ///< of all elements
  std::vector<double> rows{};  ///< if not empty: a factor for each index of the result's first axis
};

struct layer {
  operation op;
  std::vector<int> operands;  ///< indices of earlier layers
  std::vector<parameter> parameters;
  std::string onnx_name;  ///< of the node; of the value for inputs, outputs and unnamed nodes
  shape result;
  std::string identifier{};
  std::string output{};  ///< first output of the node
};

struct network {
  std::vector<layer> layers;
  std::vector<std::string>
      node_names{};                  ///< names and first outputs of the model's nodes, including those that are not layers
  std::vector<std::string> notes{};  ///< what differs from the model, in words
  /// The layer that computes each value of the model; -1: none does, because it is a constant, part of another layer's work,
  /// or needed by no output.
  std::map<std::string, int> tensors{};
  std::map<std::string, dice::tensor::number> types{};  ///< of those that are not float32

  dice::tensor::number type_of(const std::string& tensor) const {
    const auto known = types.find(tensor);
    return known == types.end() ? dice::tensor::number::float32 : known->second;
  }

  std::vector<shape> operand_shapes(const layer& l) const {
    std::vector<shape> out;
    for (int k : l.operands) out.push_back(layers[k].result);
    return out;
  }
  std::int64_t macs(const layer& l) const { return l.op.macs(operand_shapes(l), l.result); }
};

inline bool is_input(const layer& l) { return l.op.onnx_name() == "Input"; }
inline bool is_output(const layer& l) { return l.op.onnx_name() == "Output"; }

}  // namespace onnx2hpp
