#include "fold/broadcast.hpp"

#include "dice/graph/ops/cum_sum.hpp"

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace onnx2hpp {

using dice::ops::cum_sum;

namespace {

cum_sum read_cum_sum(node_context& n, int rank) {
  const auto axis = n.integers(1, "axis");
  n.require(axis.size() == 1, "its axis is not one number");
  return {
      .axis = n.axis(axis[0], rank), .exclusive = n.integer("exclusive", 0) != 0, .reverse = n.integer("reverse", 0) != 0};
}

void import_cum_sum(node_context& n) {
  const int x = n.activation(0);
  n.result(n.add(read_cum_sum(n, n.shape_of(x).rank), {x}));
}

/// Integers wrap around.
template <class T> constant summed(const constant& c, const cum_sum& op, std::vector<T> x) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const auto extent = static_cast<std::size_t>(c.dims[axis]);
  const auto inner = static_cast<std::size_t>(element_count(std::span(c.dims).subspan(axis + 1)));
  using exact = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i / inner % extent != 0) continue;
    exact sum = 0;
    for (std::size_t k = 0; k < extent; ++k) {
      T& at = x[i + (op.reverse ? extent - 1 - k : k) * inner];
      const exact next = sum + static_cast<exact>(at);
      at = static_cast<T>(op.exclusive ? sum : next);
      sum = next;
    }
  }
  return make_constant(c.type, c.dims, std::span<const T>(x));
}

void fold_cum_sum(node_context& n) {
  const constant& c = n.data(0, "input");
  const auto op = read_cum_sum(n, c.rank());
  n.result(is_real(c.type) ? summed(c, op, reals(c)) : summed(c, op, integers(c)));
}

const importer known_cum_sum("CumSum", import_cum_sum, 11, "exclusive reverse", "axis constant");
const folder folds_cum_sum("CumSum", fold_cum_sum);

}  // namespace
}  // namespace onnx2hpp
