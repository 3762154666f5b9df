#include "ops/window.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

namespace {

/// Pads of one axis so that the output has ⌈extent / stride⌉ elements (ONNX, auto_pad SAME_*).
void pad_same(std::int64_t extent, int kernel, int stride, int dilation, bool upper, int& before, int& after) {
  const std::int64_t reach = std::int64_t{kernel - 1} * dilation + 1;
  const std::int64_t total = std::max<std::int64_t>(0, ((extent + stride - 1) / stride - 1) * stride + reach - extent);
  const auto half = static_cast<int>(total / 2), rest = static_cast<int>(total - total / 2);
  before = upper ? half : rest;
  after = upper ? rest : half;
}

}  // namespace

window read_window(node_context& n, const shape& in, const std::vector<std::int64_t>& kernel) {
  if (in.rank != 3 && in.rank != 4)
    n.refuse(fmt::format("its input has {} axes; only (N, C, W) and (N, C, H, W) are supported", in.rank));
  const auto axes = static_cast<std::size_t>(in.rank - 2), skip = 2 - axes;
  const auto strides = n.integers("strides", std::vector<std::int64_t>(axes, 1));
  const auto dilations = n.integers("dilations", std::vector<std::int64_t>(axes, 1));
  const auto pads = n.integers("pads", std::vector<std::int64_t>(2 * axes, 0));
  const auto automatic = n.text("auto_pad", "NOTSET");
  if (kernel.size() != axes || strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes)
    n.refuse(
        fmt::format("its kernel, strides, dilations and pads do not match the {} axes of its input besides N and C", axes));
  window w;
  for (std::size_t a = 0; a < axes; ++a) {
    const auto i = a + skip;
    w.kernel[i] = n.small(kernel[a], "kernel extent");
    w.strides[i] = n.small(strides[a], "stride");
    w.dilations[i] = n.small(dilations[a], "dilation");
    n.require(w.kernel[i] > 0 && w.strides[i] > 0 && w.dilations[i] > 0,
              "its kernel, strides and dilations must be positive");
    n.require(std::int64_t{w.kernel[i]} * w.dilations[i] < 1 << 30, "its window is too large");
    w.pads[i] = n.small(pads[a], "padding");
    w.pads[i + 2] = n.small(pads[a + axes], "padding");
    n.require(w.pads[i] >= 0 && w.pads[i + 2] >= 0, "its pads are negative");
    const auto extent = in[static_cast<int>(a) + 2];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
      pad_same(extent, w.kernel[i], w.strides[i], w.dilations[i], automatic == "SAME_UPPER", w.pads[i], w.pads[i + 2]);
    else if (automatic == "VALID") w.pads[i] = w.pads[i + 2] = 0;
    else if (automatic != "NOTSET" && !automatic.empty())
      n.refuse("its auto_pad " + quote(automatic) + " is not known to ONNX");
  }
  return w;
}

}  // namespace onnx2hpp
