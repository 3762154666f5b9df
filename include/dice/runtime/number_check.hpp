// The option --check-numbers: graph inputs and results must be finite.
#pragma once

#include "dice/runtime/program.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// Whether the result of `layer` is a mask: it is read only by Where, as the operand in which NaN chooses the other one, and
/// by layers that make such a mask of it. What Where computes is checked.
inline bool is_mask(const graph::network_view& net, int layer) {
  std::vector<char> read(static_cast<std::size_t>(net.size())), otherwise(read);
  for (int l = net.size() - 1; l > layer; --l) {
    const auto at = static_cast<std::size_t>(l);
    const auto operands = net.into(l);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto from = static_cast<std::size_t>(operands[k].from);
      const bool chooses = net.layers[at].op == "Where" ? k + 1 == operands.size() : read[at] && !otherwise[at];
      read[from] = true;
      otherwise[from] = otherwise[from] || !chooses;
    }
  }
  return read[layer] && !otherwise[layer];
}

/// Throws std::runtime_error, "`subject` NaN at [0, 3, 1, 2]; `remedy`", if an element of `x` is NaN or infinite. Unused
/// lanes of blocks may hold anything, and so may what is outside region `part`, if it is given. `from`: where a part of a
/// layer's result begins in it. If `net` is given, NaN may be in a result of its layer `layer` that is a mask.
inline void require_finite(const float* x, const dice::tensor::shape& s, const dice::tensor::storage& as,
                           const std::string& subject, const std::string& remedy, const dice::tensor::region& from = {},
                           const dice::tensor::region* part = nullptr, const graph::network_view* net = nullptr,
                           int layer = 0) {
  const bool blocked = as.layout == dice::tensor::layout::blocked;
  const auto in_plane = s.rank < 2 ? 1 : as.row(s.product(2, s.rank));
  const auto skip = as.pitch ? as.pitch - in_plane : 0;
  std::optional<bool> mask;
  for (std::int64_t i = 0; i < dice::tensor::elements(s, as.layout); ++i, x += i % in_plane == 0 ? skip : 0) {
    if (std::isfinite(x[i])) continue;
    auto at = i;  // in row-major order
    if (blocked) {
      const auto pixels = s.product(2, s.rank), blocks = dice::tensor::blocks(s[1]);
      const auto pixel = i / dice::tensor::block % pixels, plane = i / dice::tensor::block / pixels;
      const auto channel = plane % blocks * dice::tensor::block + i % dice::tensor::block;
      if (channel >= s[1]) continue;
      at = (plane / blocks * s[1] + channel) * pixels + pixel;
    }
    std::string index;
    bool inside = true;
    for (int a = s.rank - 1; a >= 0; at /= s[a], --a) {
      if (part && a < from.axes) inside = inside && at % s[a] >= part->begin[a] && at % s[a] < part->end[a];
      index = std::to_string(at % s[a] + (a < from.axes ? from.begin[a] : 0)) + (index.empty() ? "" : ", ") + index;
    }
    if (!inside) continue;
    if (net && std::isnan(x[i])) {
      if (!mask) mask = is_mask(*net, layer);
      if (*mask) continue;
    }
    throw std::runtime_error(subject +
                             (std::isnan(x[i]) ? " NaN"
                              : x[i] > 0       ? " inf"
                                               : " -inf") +
                             " at [" + index + "]; " + remedy);
  }
}

/// Checks a frame of graph input `layer`, which is plain.
inline void require_finite_input(const program& p, int layer, const float* x) {
  require_finite(x, p.layers.layers[layer].output, {}, "the input itself holds",
                 "correct the frames, or what converts them (for pictures: mean and standard deviation)");
}

/// Checks the result of a step that computes.
inline void require_finite_result(const program& p, const schedule::step& s, const float* x) {
  std::string layers;
  for (const int l : p.plan.groups[s.group].layers())
    if (l >= 0) layers += (layers.empty() ? "'" : " + '") + std::string(p.layers.layers[l].onnx_name) + "'";
  const int rank = p.plan.groups[s.group].rank;
  const bool half = rank < static_cast<int>(p.units.size()) && p.units[rank].precision == platform::numbers::fp16;
  const auto* part = p.parts.empty() ? nullptr : &p.parts[s.layer];
  const bool alone = layers.find(" + ") == std::string::npos && !(part && part->to > 0);
  if (part && part->to > 0)
    layers += " over input channels " + std::to_string(part->from) + "-" + std::to_string(part->to - 1);
  require_finite(x, p.layers.layers[s.layer].output, s.output.stored(),
                 (alone ? "its result" : "the result of " + layers) + " holds",
                 std::string("its inputs are finite, so look at its weights, and at the scale of the frames") +
                     (half ? "; or compute it with bf16 or float32, since fp16 ends at 65504" : ""),
                 part ? part->box : dice::tensor::region{}, &s.part, &p.network_layers(), p.whole(s.layer));
}

}  // namespace dice::runtime
