#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/window.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Largest element under each window, which has one; padding never wins. ONNX MaxPool (output Y).
struct max_pool {
  static constexpr std::string_view onnx = "MaxPool";
  std::array<int, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1};
  std::array<int, 4> pads{};  ///< top, left, bottom, right
  bool ceil_mode = false;
  DICE_MEMBERS(kernel, strides, dilations, pads, ceil_mode)

  constexpr detail::window window() const { return {kernel, strides, dilations, pads, ceil_mode}; }
  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(in[0].rank >= 3, "expected a tensor of rank 3 (N, C, W) or 4 (N, C, H, W)");
    const auto out = window().infer(in[0], in[0][1]);
    window().require_elements(in[0]);
    return out;
  }
  constexpr graph::fusion fuses(graph::shapes in) const {
    const bool two =
        kernel == std::array{2, 2} && strides == kernel && dilations == std::array{1, 1} && pads == decltype(pads){};
    return {.pools_2x2 = two && in[0].rank == 4 && (!ceil_mode || (in[0][2] % 2 == 0 && in[0][3] % 2 == 0))};
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = window().input_region(out, in[0]);
    r.begin[1] = out.begin[1];
    r.end[1] = out.end[1];
    return r;
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return window().touches_input() ? graph::finest_step(axis) : 0;
  }
  constexpr max_pool restrict(const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    const auto under = window().restrict(out, in[0]);
    max_pool part = *this;
    part.pads = under.pads;
    part.ceil_mode = under.ceil_mode;
    return part;
  }
};

}  // namespace dice::ops
