#pragma once

#include "dice/graph/error.hpp"
#include "dice/tensor/tensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::ops::detail {

/// A sliding window over the axes H and W (axes 2 and 3; for tensors of rank 3, only W: index 1 of each pair).
struct window {
  std::array<int, 2> kernel, strides, dilations;
  std::array<int, 4> pads;  ///< top, left, bottom, right
  bool ceil_mode = false;

  constexpr std::int64_t reach(int i) const { return (kernel[i] - std::int64_t{1}) * dilations[i] + 1; }

  /// Output extent along axis i (0: H, 1: W) of an input of extent n. ONNX Conv and MaxPool, "output shape"; with ceil_mode,
  /// as in PyTorch and ONNX Runtime, a last window that would start in the end padding is dropped, and a window that is too
  /// large by less than a stride gives one output.
  constexpr std::int64_t extent(int i, std::int64_t n) const {
    const std::int64_t size = kernel[i], stride = strides[i], dilation = dilations[i], before = pads[i];
    const std::int64_t room = n + before + pads[i + 2] - ((size - 1) * dilation + 1);
    graph::require(size > 0 && stride > 0 && dilation > 0, "kernel, strides and dilations must be positive");
    graph::require(room >= 0 || (ceil_mode && room > -stride), "the window is larger than the padded input");
    if (room < 0) return 1;
    std::int64_t out = room / stride + 1;
    if (ceil_mode && room % stride != 0 && out * stride < n + before) ++out;
    return out;
  }
  /// Input interval [begin, end) along axis i under outputs [from, to), clipped to the input's extent n. With padding of
  /// half the kernel, which is odd, Eq. (1) of DeepThings (Zhao et al. 2018); without padding and with a stride equal to the
  /// kernel, its Eq. (2). Those equations give the last element instead of the end, and have no dilation.
  constexpr void under(int i, std::int64_t from, std::int64_t to, std::int64_t n, std::int64_t& begin,
                       std::int64_t& end) const {
    const std::int64_t stride = strides[i], pad = pads[i];
    const auto first = from * stride - pad, last = (to - 1) * stride - pad + reach(i);
    begin = std::clamp<std::int64_t>(first, 0, n);
    end = std::clamp<std::int64_t>(last, begin, n);
  }
  /// Refuses an input of shape `in` if a window has no element of it, and thus no largest element and no mean. Such a window
  /// lies in the padding, or its dilation passes over the input.
  constexpr void require_elements(const tensor::shape& in) const {
    for (int a = 2; a < in.rank; ++a) {
      const int i = a - in.rank + 2;
      const std::int64_t stride = strides[i], dilation = dilations[i], n = in.dim[a];
      const auto last = (extent(i, n) - 1) * stride - pads[i];
      bool all = last < n;
      for (std::int64_t start = -pads[i]; start < 0 && start <= last; start += stride) {
        const auto before = (-start + dilation - 1) / dilation;  // elements of the window before the input
        all = all && before < kernel[i] && start + before * dilation < n;
      }
      graph::require(all, "a window has no element of the input, only padding");
    }
  }
  /// Whether every window touches the input, so that no part of the output has an empty input region.
  constexpr bool touches_input() const {
    const int* p = pads.data();
    const auto down = reach(0), across = reach(1);
    return p[0] < down && p[2] < down && p[1] < across && p[3] < across;
  }
  /// The window that makes the output region `out` from only its input region: with the padding that these outputs touch,
  /// and ceil_mode if the last of them exceeds the padding.
  constexpr window restrict(const tensor::region& out, const tensor::shape& in) const {
    graph::require(touches_input(), "windows that lie in the padding alone cannot be cut into parts");
    window part = *this;
    part.ceil_mode = false;
    int* padding = part.pads.data();
    for (int a = 2; a < in.rank; ++a) {
      const int i = a - in.rank + 2;
      const std::int64_t stride = strides[i], pad = padding[i], n = in.dim[a], padded = n + padding[i + 2];
      const auto first = out.begin[a] * stride - pad, last = (out.end[a] - 1) * stride - pad + reach(i);
      const auto begin = std::clamp<std::int64_t>(first, 0, n), end = std::clamp<std::int64_t>(last, begin, n);
      padding[i] = static_cast<int>(begin - first);
      padding[i + 2] = static_cast<int>(std::min(last, padded) - end);
      part.ceil_mode = part.ceil_mode || last > padded;
    }
    return part;
  }
  /// Shape (N, channels, …) of the output.
  constexpr tensor::shape infer(const tensor::shape& in, std::int64_t channels) const {
    graph::require(in.rank == 3 || in.rank == 4, "expected a tensor of rank 3 (N, C, W) or 4 (N, C, H, W)");
    tensor::shape out = in;
    out.dim[1] = channels;
    for (int a = 2; a < in.rank; ++a) out.dim[a] = extent(a - in.rank + 2, in.dim[a]);
    return out;
  }
  /// Input region under the output region, over all channels [0, C).
  constexpr tensor::region input_region(const tensor::region& out, const tensor::shape& in) const {
    tensor::region r = out;
    r.begin[1] = 0;
    r.end[1] = in.dim[1];
    for (int a = 2; a < in.rank; ++a) under(a - in.rank + 2, out.begin[a], out.end[a], in.dim[a], r.begin[a], r.end[a]);
    return r;
  }
};

}  // namespace dice::ops::detail
