#include "graph/node_context.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/hard_swish.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::hard_swish> {
  static constexpr const char* name = "hard_swish";
  static void write(const dice::ops::hard_swish&, const dice::ops::hard_swish&, initialiser&) {}
};

operation hard_swish_of() { return dice::ops::hard_swish{}; }

namespace {

const importer known_hard_swish(
    "HardSwish", [](node_context& n) { n.result(n.add(dice::ops::hard_swish{}, {n.activation(0)})); }, 14, "",
    "also written as x · HardSigmoid(x) with alpha = 1/6, or x · Clip(x + 3, 0, 6) / 6");

}  // namespace
}  // namespace onnx2hpp
