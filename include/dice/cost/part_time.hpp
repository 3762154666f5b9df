// How long a part of a layer takes, compared with the whole layer.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/algorithm/small_parts.hpp"
#include "dice/algorithm/winograd.hpp"
#include "dice/graph/network.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/tensor/region.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::cost::detail {

/// The first and the last tile, and one more, of those of `tile` rows or columns that a region has some of.
struct tile_range {
  std::int64_t first = 0, last = 0;
  constexpr tile_range(std::int64_t tile, std::int64_t begin, std::int64_t end)
      : first(begin / tile), last(end > begin ? (end + tile - 1) / tile : first) {}
  constexpr std::int64_t count() const { return last - first; }
};

/// A part of a layer's result, and how its kernel computes it.
struct part_of_layer {
  tensor::region box;
  double share = 0;                       ///< of the layer's products or, if it has none, of the result's elements
  std::int64_t weight_bytes = 0;          ///< as the kernel reads them
  std::array<std::int8_t, 2> tile{1, 1};  ///< algorithm::choice::tile
};

/// How often each weight is used for a region of the result of a layer: for each image, and each tile of rows and columns.
constexpr std::int64_t uses(const graph::layer_info& layer, const tensor::region& box,
                            const std::array<std::int8_t, 2>& tile) {
  std::int64_t out = 1;
  for (int k = 0; k < layer.output.rank; ++k)
    if (k != layer.channels_axis())
      out *= tile_range(layer.output.rank == 4 && k >= 2 ? tile[k - 2] : 1, box.begin[k], box.end[k]).count();
  return out;
}

/// How many products processor `on` computes while it reads a weight from memory.
constexpr double load_of(const platform::processor_info& on) {
  constexpr double measured = 12;  // a core with AVX-512; one of a Raspberry Pi 4 has some 7
  if (on.profiled || on.flops <= 0 || on.bytes_per_s <= 0) return measured;
  return std::clamp(on.flops / 2 / (on.bytes_per_s / tensor::float_bytes), 1.0, algorithm::winograd::load);
}

/// The time of a part of layer `whole` as a fraction of that of the whole layer, which processor `on` computes by `by`: its
/// share of the products, where a tile that it cuts counts as a whole one. Each part reads large weights from memory.
constexpr double time_fraction(const part_of_layer& part, const graph::layer_info& whole, const algorithm::choice& by,
                               const platform::processor_info& on) {
  const auto all = tensor::whole(whole.output);
  const auto weights = by.packed_bytes > 0 ? by.packed_bytes : whole.parameter_bytes;
  if (weights > algorithm::cached_bytes && whole.macs > 0 && part.share > 0) {
    const auto of_all = uses(whole, all, by.tile);
    const double time = algorithm::products(part.weight_bytes, uses(whole, part.box, part.tile), load_of(on)) /
                        algorithm::products(weights, of_all, load_of(on));
    // All parts together are not faster than the whole by the algorithm that was the best one for it.
    const bool other = part.tile != by.tile;
    return std::max(time, other ? static_cast<double>(uses(whole, part.box, by.tile)) / static_cast<double>(of_all) : 0);
  }
  double out = part.share;
  for (int k = 2; k < 4 && whole.output.rank == 4; ++k) {
    const std::int64_t tile = part.tile[k - 2], extent = part.box.end[k] - part.box.begin[k], of = whole.output[k];
    if (tile <= 1 || extent <= 0) continue;
    out *= static_cast<double>(tile_range(tile, part.box.begin[k], part.box.end[k]).count() * of) /
           static_cast<double>(tile_range(tile, 0, of).count() * extent);
  }
  return out;
}

}  // namespace dice::cost::detail
