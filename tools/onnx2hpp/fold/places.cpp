#include "fold/places.hpp"

#include "fold/broadcast.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

std::int64_t index_position(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) node_context::refuse(fmt::format("its index {} is out of range", index));
  return index < 0 ? index + extent : index;
}

places slices_by_index(node_context& n, const std::vector<std::int64_t>& dims) {
  const constant& indices = n.data(1, "indices");
  n.require(indices.rank() >= 1 && indices.dims.back() >= 1 && indices.dims.back() <= static_cast<std::int64_t>(dims.size()),
            "its indices have no numbers, or more than its input has axes");
  const auto k = static_cast<std::size_t>(indices.dims.back());
  places out;
  out.dims.assign(indices.dims.begin(), indices.dims.end() - 1);
  for (std::size_t a = k; a < dims.size(); ++a) {
    out.size *= dims[a];
    out.dims.push_back(dims[a]);
  }
  folded_size(out.dims, "its indices name the places of a tensor");
  const auto index = n.integers(1, "indices");
  for (std::size_t i = 0; i < index.size(); i += k) {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < k; ++a) at = at * dims[a] + index_position(index[i + a], dims[a]);
    out.at.push_back(at * out.size);
  }
  return out;
}

places elements_by_index(node_context& n, const std::vector<std::int64_t>& dims) {
  const constant& indices = n.data(1, "indices");
  const auto rank = static_cast<int>(dims.size());
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 0), rank));
  bool fits = indices.rank() == rank;
  for (std::size_t a = 0; fits && a < dims.size(); ++a) fits = a == axis || indices.dims[a] <= dims[a];
  n.require(fits, "its indices differ in rank from its input, or exceed it on another axis");
  places out{.at = {}, .size = 1, .dims = indices.dims};
  folded_size(out.dims, "its indices are a constant");
  const auto index = n.integers(1, "indices");
  std::vector<std::int64_t> p(dims.size());
  for (const auto i : index) {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < dims.size(); ++a) at = at * dims[a] + (a == axis ? index_position(i, dims[a]) : p[a]);
    out.at.push_back(at);
    for (std::size_t a = p.size(); a-- > 0;) {
      if (++p[a] < out.dims[a]) break;
      p[a] = 0;
    }
  }
  return out;
}

void require_no_reduction(node_context& n) {
  if (n.self().operator_name == "Scatter") return;  // it has none
  if (const auto how = n.text("reduction", "none"); how != "none")
    n.refuse("its reduction is " + quote(how) + "; only none is supported");
}

}  // namespace onnx2hpp
