// GatherND, GatherElements, ScatterND and ScatterElements of constants.
#include "fold/places.hpp"

#include <cstring>

namespace onnx2hpp {
namespace {

using find_places = places (*)(node_context&, const std::vector<std::int64_t>&);

template <find_places Find> void fold_gather(node_context& n) {
  const constant& data = n.data(0, "input");
  const auto from = Find(n, data.dims);
  const auto width = size_of(data.type), bytes = static_cast<std::size_t>(from.size) * width;
  std::vector<std::byte> out(from.at.size() * bytes);
  for (std::size_t i = 0; i < from.at.size(); ++i)
    std::memcpy(out.data() + i * bytes, data.bytes.data() + static_cast<std::size_t>(from.at[i]) * width, bytes);
  n.result(make_constant(data.type, from.dims, std::move(out)));
}

void fold_gather_nd(node_context& n) {
  if (n.integer("batch_dims", 0) != 0) n.refuse("its batch_dims is not 0");
  fold_gather<slices_by_index>(n);
}

template <find_places Find> void fold_scatter(node_context& n) {
  const constant &data = n.data(0, "input"), &updates = n.data(2, "updates");
  require_no_reduction(n);
  const auto to = Find(n, data.dims);
  n.require(updates.type == data.type && updates.dims == to.dims, "its updates do not fit its indices");
  const auto width = size_of(data.type), bytes = static_cast<std::size_t>(to.size) * width;
  std::vector<std::byte> out(data.bytes.begin(), data.bytes.end());
  for (std::size_t i = 0; i < to.at.size(); ++i)
    std::memcpy(out.data() + static_cast<std::size_t>(to.at[i]) * width, updates.bytes.data() + i * bytes, bytes);
  n.result(make_constant(data.type, data.dims, std::move(out)));
}

const folder folds_nd[] = {{"GatherND", fold_gather_nd},
                           {"GatherElements", fold_gather<elements_by_index>},
                           {"Scatter", fold_scatter<elements_by_index>},
                           {"ScatterElements", fold_scatter<elements_by_index>},
                           {"ScatterND", fold_scatter<slices_by_index>}};

}  // namespace
}  // namespace onnx2hpp
