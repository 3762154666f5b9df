#pragma once

#include "graph/operation.hpp"

#include "dice/graph/ops/depth_to_space.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::depth_to_space> {
  static constexpr const char* name = "depth_to_space";
  static void write(const dice::ops::depth_to_space& op, const dice::ops::depth_to_space& unset, initialiser& out) {
    out("factors", op.factors, unset.factors);
    out("crop", op.crop, unset.crop);
    out.add("to", literal(op.to));
    out("groups", op.groups, unset.groups);
  }
};

}  // namespace onnx2hpp
