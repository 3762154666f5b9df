#include "ops/graph_ends.hpp"

#include "dice/graph/ops/output.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::output> {
  static constexpr const char* name = "output";
  static void write(const dice::ops::output&, const dice::ops::output&, initialiser&) {}
};

operation output_operation() { return dice::ops::output{}; }

}  // namespace onnx2hpp
