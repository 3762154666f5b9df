#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/weights.hpp"
#include "dice/graph/ops/detail/window.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace dice::ops {

/// Convolution over H and W, or only over W for tensors of rank 3 (then index 1 of each pair is used and index 0 holds 1, 1,
/// 1, pads 0). Parameter 0: weights (channels, C / group, kh, kw); parameter 1, if `bias`: (channels). ONNX Conv.
struct conv {
  static constexpr std::string_view onnx = "Conv";
  std::int64_t channels = 0;  ///< of the output
  std::array<int, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1};
  std::array<int, 4> pads{};  ///< top, left, bottom, right
  std::int64_t group = 1;
  bool bias = false;
  DICE_MEMBERS(channels, kernel, strides, dilations, pads, group, bias)
  static constexpr const char* always_written = member_names;

  constexpr detail::window window() const { return {kernel, strides, dilations, pads}; }
  constexpr tensor::shape infer(graph::shapes in) const {
    const auto& x = in[0];
    graph::require(x.rank >= 3 && group > 0 && x.dim[1] % group == 0 && channels % group == 0,
                   "the channels are not divisible by the groups");
    return window().infer(x, channels);
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = window().input_region(out, in[0]);
    if (group == 1) return r;
    const auto in_group = in[0][1] / group, out_group = channels / group;
    r.begin[1] = out.begin[1] / out_group * in_group;
    r.end[1] = ((out.end[1] - 1) / out_group + 1) * in_group;
    return r;
  }
  constexpr std::int64_t macs(graph::shapes in, const tensor::shape& result) const {
    return result.elements() * (in[0][1] / group) * kernel[0] * kernel[1];
  }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_residual = true, .takes_activation = true}; }
  /// Whole groups: as many as have whole blocks of input and of output channels. 0 if the last part might have less than a
  /// block of input channels, or only one (depthwise): kernels sum those in another order.
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape&) const {
    if (!window().touches_input()) return 0;
    if (axis != 1 || group == 1) return graph::finest_step(axis);
    const bool depthwise = group == channels && group == in[0][1];
    if (const auto rest = in[0][1] % tensor::block; depthwise ? rest == 1 : rest != 0) return 0;
    const auto groups = [](std::int64_t of_one) { return tensor::block / std::gcd(tensor::block, of_one); };
    return std::lcm(groups(in[0][1] / group), groups(channels / group)) * (channels / group);
  }
  constexpr conv restrict(const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    const auto of_group = channels / group, first = out.begin[1] / of_group, last = (out.end[1] - 1) / of_group;
    conv part = *this;
    part.pads = window().restrict(out, in[0]).pads;
    part.channels = out.end[1] - out.begin[1];
    part.group = last - first + 1;
    graph::require(part.group == 1 || part.channels == part.group * of_group,
                   "a part of a grouped convolution must have whole groups");
    return part;
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape&,
                                            const tensor::shape& extents) const {
    return detail::outputs(out, 1, extents);
  }
  constexpr int depth_axis(graph::shapes) const { return group == 1 ? 1 : -1; }
  constexpr conv partial(std::int64_t, std::int64_t, bool first) const {
    conv part = *this;
    part.bias = bias && first;
    return part;
  }
};

}  // namespace dice::ops
