// The core's interface to operators. An operator is a literal struct of attributes in ops/<op>.hpp with a constant `onnx`
// (its ONNX name) and any of the members below; those that it omits default to an elementwise function of input 0.
#pragma once

#include "dice/graph/error.hpp"
#include "dice/graph/fusion.hpp"
#include "dice/tensor/tensor.hpp"

#include <cstdint>
#include <span>

namespace dice::graph {

using shapes = std::span<const tensor::shape>;

/// Shape of the output for inputs of shapes `in`. Throws model_error.
template <class Op> constexpr tensor::shape infer(const Op& op, shapes in) {
  if constexpr (requires { op.infer(in); }) return op.infer(in);
  else return in[0];
}

/// The region of input `k` from which region `out` of the output (shape `result`) is computed.
template <class Op>
constexpr tensor::region input_region(const Op& op, int k, const tensor::region& out, shapes in,
                                      const tensor::shape& result) {
  if constexpr (requires { op.input_region(k, out, in, result); }) return op.input_region(k, out, in, result);
  else return out;
}

/// Multiply-accumulate operations of one frame.
template <class Op> constexpr std::int64_t macs(const Op& op, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.macs(in, result); }) return op.macs(in, result);
  else return 0;
}

/// What the operator can absorb, and whether it can be absorbed.
template <class Op> constexpr fusion fuses(const Op& op, shapes in) {
  if constexpr (requires { op.fuses(in); }) return op.fuses(in);
  else return {};
}

/// Offset in elements of the output within input 0 if the output is a view of it; else -1.
template <class Op> constexpr std::int64_t view(const Op& op, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.view(in, result); }) return op.view(in, result);
  else return -1;
}

/// Offset in elements at which input `k` lies as one piece within the output, or -1. If all inputs of an operator do (Concat
/// over the outermost axis that is not 1), it costs nothing when they are computed in place.
template <class Op> constexpr std::int64_t joins(const Op& op, int k, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.joins(k, in, result); }) return op.joins(k, in, result);
  else return -1;
}

/// Whether the output may overwrite input 0: each element depends only on the input element at the same position.
template <class Op> constexpr bool in_place(const Op& op) {
  if constexpr (requires { op.in_place; }) return op.in_place;
  else return false;
}

}  // namespace dice::graph
