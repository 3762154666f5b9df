#include "ops/graph_ends.hpp"

#include "dice/graph/ops/input.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::input> {
  static constexpr const char* name = "input";
  static void write(const dice::ops::input& op, const dice::ops::input&, initialiser& out) {
    out.add("extents", literal(op.extents));
  }
};

operation input_operation(const shape& extents) { return dice::ops::input{.extents = extents}; }

}  // namespace onnx2hpp
