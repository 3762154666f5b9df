// GatherND and ScatterND of constants. Indices (…, k) name the first k axes; what they name are the axes behind these.
#include "fold/broadcast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace onnx2hpp {
namespace {

struct places {
  std::vector<std::size_t> at;     ///< first element of each slice
  std::size_t size = 1;            ///< elements of a slice
  std::vector<std::int64_t> dims;  ///< of all slices: those of the indices without k, then those of a slice
};

places find_places(node_context& n, const constant& data) {
  const constant& indices = n.data(1, "indices");
  n.require(indices.rank() >= 1 && indices.dims.back() >= 1 && indices.dims.back() <= data.rank(),
            "its indices have no numbers, or more than its input has axes");
  const auto k = static_cast<std::size_t>(indices.dims.back());
  places out;
  out.dims.assign(indices.dims.begin(), indices.dims.end() - 1);
  for (std::size_t a = k; a < data.dims.size(); ++a)
    out.size *= static_cast<std::size_t>(data.dims[a]), out.dims.push_back(data.dims[a]);
  folded_size(out.dims);
  const auto index = n.integers(1, "indices");
  for (std::size_t i = 0; i < index.size(); i += k) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < k; ++a) {
      const auto extent = data.dims[a], asked = index[i + a];
      if (asked < -extent || asked >= extent) n.refuse(fmt::format("its index {} is out of range", asked));
      at = at * static_cast<std::size_t>(extent) + static_cast<std::size_t>(asked < 0 ? asked + extent : asked);
    }
    out.at.push_back(at * out.size);
  }
  return out;
}

void fold_gather_nd(node_context& n) {
  const constant& data = n.data(0, "input");
  if (n.integer("batch_dims", 0) != 0) n.refuse("its batch_dims is not 0");
  const auto from = find_places(n, data);
  const auto width = size_of(data.type), bytes = from.size * width;
  std::vector<std::byte> out(from.at.size() * bytes);
  for (std::size_t i = 0; i < from.at.size(); ++i)
    std::memcpy(out.data() + i * bytes, data.bytes.data() + from.at[i] * width, bytes);
  n.result(make_constant(data.type, from.dims, std::move(out)));
}

void fold_scatter_nd(node_context& n) {
  const constant &data = n.data(0, "input"), &updates = n.data(2, "updates");
  if (const auto how = n.text("reduction", "none"); how != "none")
    n.refuse("its reduction is " + quote(how) + "; only none is supported");
  const auto to = find_places(n, data);
  n.require(updates.type == data.type && updates.dims == to.dims, "its updates do not fit its indices");
  const auto width = size_of(data.type), bytes = to.size * width;
  std::vector<std::byte> out(data.bytes.begin(), data.bytes.end());
  for (std::size_t i = 0; i < to.at.size(); ++i)
    std::memcpy(out.data() + to.at[i] * width, updates.bytes.data() + i * bytes, bytes);
  n.result(make_constant(data.type, data.dims, std::move(out)));
}

const folder folds_nd[] = {{"GatherND", fold_gather_nd},
                           {"ScatterND", fold_scatter_nd, 11, "reduction>=16", "only reduction = none"}};

}  // namespace
}  // namespace onnx2hpp
