#pragma once

#include "graph/network.hpp"

namespace onnx2hpp {

/// Graph inputs and outputs are layers, too.
operation input_operation(const shape& extents, dice::tensor::number type = {});
operation output_operation(dice::tensor::number type);

/// The type as a C++ expression.
std::string literal(dice::tensor::number type);

}  // namespace onnx2hpp
