#pragma once

#include "dice/graph/operator.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Local response normalisation across channels: y = x / (bias + alpha / size · Σ x²)^beta, the sum over channels
/// c - ⌊(size-1)/2⌋ … c + ⌈(size-1)/2⌉. ONNX LRN.
struct lrn {
  static constexpr std::string_view onnx = "LRN";
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  int size = 1;
  DICE_MEMBERS(alpha, beta, bias, size)
  static constexpr const char* always_written = "size";

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(in[0].rank >= 2 && size > 0, "expected channels on axis 1 and a positive size");
    return in[0];
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    r.begin[1] = std::max<std::int64_t>(0, out.begin[1] - (size - 1) / 2);
    r.end[1] = std::min<std::int64_t>(in[0][1], out.end[1] + size / 2);
    return r;
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return axis == 1 ? 0 : 1; }
};

}  // namespace dice::ops
