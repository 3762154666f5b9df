#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/window.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Mean of the elements under each window that lie in the input or, with `count_include_pad`, in the padded input (elements
/// that ceil_mode adds beyond the padding never count). A window must have one that counts. ONNX AveragePool.
struct average_pool {
  static constexpr std::string_view onnx = "AveragePool";
  std::array<int, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1};
  std::array<int, 4> pads{};  ///< top, left, bottom, right
  bool ceil_mode = false;
  bool count_include_pad = false;
  DICE_MEMBERS(kernel, strides, dilations, pads, ceil_mode, count_include_pad)

  constexpr detail::window window() const { return {kernel, strides, dilations, pads, ceil_mode}; }
  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(in[0].rank >= 3, "expected a tensor of rank 3 (N, C, W) or 4 (N, C, H, W)");
    const auto out = window().infer(in[0], in[0][1]);
    if (!count_include_pad) window().require_elements(in[0]);
    return out;
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
  constexpr average_pool restrict(const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    const auto under = window().restrict(out, in[0]);
    average_pool part = *this;
    part.pads = under.pads;
    part.ceil_mode = under.ceil_mode;
    return part;
  }
};

}  // namespace dice::ops
