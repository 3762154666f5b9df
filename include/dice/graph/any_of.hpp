// Operators found by their ONNX names. Apart from any_operator.hpp, since programs do not need it.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/network.hpp"
#include "dice/graph/ops.hpp"

#include <string>
#include <string_view>

namespace dice::graph {

/// Whether operators of type Op have this ONNX name.
template <class Op> constexpr bool is_named(std::string_view onnx_name) {
  if constexpr (requires { Op::is_named(onnx_name); }) return Op::is_named(onnx_name);
  else return Op::onnx == onnx_name;
}

/// The operator with this ONNX name that lies at `op`. Throws model_error if there is none of this name.
inline any_operator any_of(std::string_view onnx_name, const void* op) {
#define DICE_FINDS(name) \
  if (is_named<ops::name>(onnx_name)) return *static_cast<const ops::name*>(op);
  DICE_OPERATORS(DICE_FINDS)
#undef DICE_FINDS
  throw model_error("dice has no operator " + std::string(onnx_name) + "; graph/ops.hpp lists those that it has");
}

}  // namespace dice::graph
