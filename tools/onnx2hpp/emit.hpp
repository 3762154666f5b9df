// The texts that onnx2hpp writes. All follow from the network alone: the same model gives the same bytes.
#pragma once

#include "network.hpp"
#include "weights.hpp"

#include <string>

namespace onnx2hpp {

/// The C++ header; `model_digest` is the SHA-256 of the model's file.
std::string emit_header(const network& net, const weights_layout& layout, const std::string& name,
                        const std::string& model_digest, const std::string& weights_digest);
/// The report, JSON.
std::string emit_report(const network& net, const std::string& name);
/// A graph for Graphviz.
std::string emit_dot(const network& net, const std::string& name);
/// A table for people.
std::string emit_list(const network& net);

/// Bytes of the parameters of a layer.
std::int64_t parameter_bytes(const layer& l);
/// A shape as 1x3x224x224.
std::string written(const shape& s);

}  // namespace onnx2hpp
