#include "ops/graph_ends.hpp"

#include "dice/graph/ops/output.hpp"

namespace onnx2hpp {

std::string literal(dice::tensor::number type) {
  constexpr const char* names[] = {"float32", "int64", "int32", "uint8", "boolean"};
  return std::string("::dice::tensor::number::") + names[static_cast<std::size_t>(type)];
}

template <> struct spelling<dice::ops::output> {
  static constexpr const char* name = "output";
  static void write(const dice::ops::output& op, const dice::ops::output& unset, initialiser& out) {
    if (op.number != unset.number) out.add("number", literal(op.number));
  }
};

operation output_operation(dice::tensor::number type) { return dice::ops::output{.number = type}; }

}  // namespace onnx2hpp
