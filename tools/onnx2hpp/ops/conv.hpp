#pragma once

#include "graph/operation.hpp"

#include "dice/graph/ops/conv.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::conv> {
  static constexpr const char* name = "conv";
  static void write(const dice::ops::conv& op, const dice::ops::conv&, initialiser& out) {
    // Writes all attributes: readers of the header look for them.
    out.add("channels", literal(op.channels));
    out.add("kernel", literal(op.kernel));
    out.add("strides", literal(op.strides));
    out.add("dilations", literal(op.dilations));
    out.add("pads", literal(op.pads));
    out.add("group", literal(op.group));
    out.add("bias", literal(op.bias));
  }
};

}  // namespace onnx2hpp
