#include "ops/graph_ends.hpp"

#include "dice/graph/ops/input.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::input> {
  static constexpr const char* name = "input";
  static void write(const dice::ops::input& op, const dice::ops::input& unset, initialiser& out) {
    out.add("extents", literal(op.extents));
    if (op.number != unset.number) out.add("number", literal(op.number));
  }
};

operation input_operation(const shape& extents, dice::tensor::number type) {
  return dice::ops::input{.extents = extents, .number = type};
}

}  // namespace onnx2hpp
