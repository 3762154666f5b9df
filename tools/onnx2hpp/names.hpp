#pragma once

#include "network.hpp"

#include <string>

namespace onnx2hpp {

/// Gives each layer a C++ identifier of its own, made from its name in the model: graph inputs and outputs choose first.
void name_layers(network& net);

/// A namespace for a model whose file has the given stem.
std::string namespace_for(const std::string& stem);

/// Why `name` cannot be a namespace of a generated header; empty if it can.
std::string why_no_namespace(const std::string& name);

}  // namespace onnx2hpp
