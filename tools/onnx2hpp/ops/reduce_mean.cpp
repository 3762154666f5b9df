#include "graph/node_context.hpp"

#include "dice/graph/ops/reduce_mean.hpp"

namespace onnx2hpp {

using dice::ops::reduce_mean;

template <> struct spelling<reduce_mean> {
  static constexpr const char* name = "reduce_mean";
  static void write(const reduce_mean& op, const reduce_mean& unset, initialiser& out) {
    out.add("over", literal(op.over));
    out("keep", op.keep, unset.keep);
  }
};

namespace {

void import(node_context& n) {
  const int x = n.activation(0), rank = n.shape_of(x).rank;
  const auto axes = n.opset() < 18 ? n.integers("axes") : n.given(1) ? n.integers(1, "axes") : std::vector<std::int64_t>{};
  reduce_mean op;
  op.keep = n.integer("keepdims", 1) != 0;
  if (n.opset() >= 18 && n.integer("noop_with_empty_axes", 0) != 0 && axes.empty()) return n.pass();
  for (auto a : axes) op.over[static_cast<std::size_t>(n.axis(a, rank))] = true;
  for (int a = 0; axes.empty() && a < rank; ++a) op.over[static_cast<std::size_t>(a)] = true;
  n.result(n.add(op, {x}));
}

const importer known("ReduceMean", import);

}  // namespace
}  // namespace onnx2hpp
