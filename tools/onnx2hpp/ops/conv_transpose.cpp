// ConvTranspose. With strides s, the s · s pixels of a block of the result are sums over the same pixels of the input: a
// Conv computes them as channels, with its weights in another order, and a DepthToSpace moves them to their places (Shi et
// al. 2016, "Is the deconvolution layer the same as a convolutional layer?").
#include "fold/broadcast.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/conv.hpp"
#include "dice/graph/ops/depth_to_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace {

/// One axis of the node; and of the Conv, whose result j and phase b are pixel j · stride + b before it is cropped.
struct axis_form {
  std::int64_t in, kernel, stride, dilation, before, out;  ///< `before`: pixels that are cropped

  std::int64_t taps() const { return ((kernel - 1) * dilation + stride) / stride; }
  /// The first result of the Conv that is read, and the number of them.
  std::int64_t first() const { return std::min(before / stride, taps() - 1); }
  std::int64_t count() const { return (before + out + stride - 1) / stride - first(); }
  /// The kernel's index that phase b multiplies with tap t of the Conv; -1: none.
  std::int64_t index(std::int64_t b, std::int64_t t) const {
    const auto at = b + stride * (taps() - 1 - t);
    return at % dilation == 0 && at / dilation < kernel ? at / dilation : -1;
  }
};

std::vector<axis_form> read_axes(node_context& n, const shape& in, const std::vector<std::int64_t>& kernel) {
  const auto axes = kernel.size();
  const std::vector<std::int64_t> ones(axes, 1);
  const auto strides = n.integers("strides", ones), dilations = n.integers("dilations", ones);
  auto pads = n.integers("pads", std::vector<std::int64_t>(2 * axes, 0));
  const auto more = n.integers("output_padding", std::vector<std::int64_t>(axes, 0));
  auto shape = n.integers("output_shape");
  const auto automatic = n.text("auto_pad", "NOTSET");
  if (shape.size() == axes + 2) shape.erase(shape.begin(), shape.begin() + 2);  // also N and C
  if (strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes || more.size() != axes ||
      (!shape.empty() && shape.size() != axes))
    n.refuse(fmt::format("its attributes do not match the {} axes of its input besides N and C", axes));
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && automatic != "VALID" && automatic != "NOTSET" && !automatic.empty())
    n.refuse("its auto_pad " + quote(automatic) + " is not known to ONNX");
  std::vector<axis_form> out;
  for (std::size_t a = 0; a < axes; ++a) {
    axis_form f{.in = in[static_cast<int>(a) + 2],
                .kernel = n.small(kernel[a], "kernel extent"),
                .stride = n.small(strides[a], "stride"),
                .dilation = n.small(dilations[a], "dilation"),
                .before = 0,
                .out = 0};
    n.require(f.kernel > 0 && f.stride > 0 && f.dilation > 0, "its kernel, strides and dilations must be positive");
    const std::int64_t padding = n.small(more[a], "output padding");
    n.require(padding >= 0, "its output padding is negative");
    if (padding >= std::max(f.stride, f.dilation))
      n.refuse(fmt::format("its output padding is {}, and not smaller than stride or dilation", padding));
    const auto reached = (f.in - 1) * f.stride + (f.kernel - 1) * f.dilation + 1, all = reached + padding;
    if (same || !shape.empty()) {
      f.out = shape.empty() ? f.in * f.stride : n.small(shape[a], "output extent");
      if (const auto most = reached + std::max(f.stride - 1, padding); f.out > most)
        n.refuse(fmt::format("its output_shape is {} on an axis where its input gives at most {}", f.out, most));
      const auto total = std::max<std::int64_t>(0, all - f.out);
      f.before = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      f.before = automatic == "VALID" ? 0 : n.small(pads[a], "padding");
      f.out = all - f.before - (automatic == "VALID" ? 0 : n.small(pads[a + axes], "padding"));
    }
    n.require(f.before >= 0 && f.out > 0, "its pads leave nothing, or are negative");
    out.push_back(f);
  }
  return out;
}

void import_conv_transpose(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const constant& w = n.data(1, "weights");
  if ((in.rank != 3 && in.rank != 4) || w.rank() != in.rank)
    n.refuse(fmt::format("its weights have {} axes and its input {}, expected three (N, C, W) or four (N, C, H, W)",
                         w.rank(), in.rank));
  const std::vector<std::int64_t> kernel(w.dims.begin() + 2, w.dims.end());
  if (n.integers("kernel_shape", kernel) != kernel) n.refuse("its kernel_shape differs from the shape of its weights");
  const auto groups = n.integer("group", 1);
  if (groups < 1 || w.dims[0] != in[1] || in[1] % groups != 0)
    n.refuse(
        fmt::format("its weights {} do not fit an input of {} channels in {} groups", literal(shape_of(w)), in[1], groups));
  auto axes = read_axes(n, in, kernel);
  if (axes.size() == 1) axes.insert(axes.begin(), {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .before = 0, .out = 1});
  const auto &y = axes[0], &v = axes[1];

  // Before anything is computed from extents that the model states: the Conv's weights.
  folded_size({w.dims[1], in[1], y.taps(), y.stride, v.taps(), v.stride}, "its weights become a constant");
  const std::int64_t of_group = w.dims[1], in_group = in[1] / groups, phases = y.stride * v.stride;
  dice::ops::conv op{.channels = groups * phases * of_group, .group = groups};
  dice::ops::depth_to_space move{.factors = {y.stride, v.stride}, .groups = groups};
  for (std::size_t k = 0; k < 2; ++k) {
    const auto& f = axes[k];
    op.kernel[k] = n.small(f.taps(), "kernel extent");
    op.pads[k] = static_cast<int>(f.taps() - 1 - f.first());
    op.pads[k + 2] = static_cast<int>(std::max<std::int64_t>(0, f.first() + f.count() - f.in));
    move.crop[k] = f.before - f.first() * f.stride;
    move.to[k] = f.out;
  }
  const auto old = reals(w);
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(op.channels * in_group * y.taps() * v.taps()));
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t phase = 0; phase < phases; ++phase)
      for (std::int64_t c = 0; c < of_group; ++c)
        for (std::int64_t i = 0; i < in_group; ++i)
          for (std::int64_t ty = 0; ty < y.taps(); ++ty)
            for (std::int64_t tx = 0; tx < v.taps(); ++tx) {
              const auto ky = y.index(phase / v.stride, ty), kx = v.index(phase % v.stride, tx);
              const auto at = (((g * in_group + i) * of_group + c) * y.kernel + ky) * v.kernel + kx;
              weights.push_back(ky < 0 || kx < 0 ? 0 : old[at]);
            }
  std::vector<std::int64_t> dims{op.channels, in_group, y.taps(), v.taps()};
  if (in.rank == 3) dims.erase(dims.begin() + 2);
  const auto filter = make_constant(element::float32, dims, std::span<const double>(weights));
  std::vector<parameter> parameters{{"weight", filter, shape_of(filter)}};
  if (n.given(2)) {
    const auto bias = n.reals(2, "bias");
    n.require(static_cast<std::int64_t>(bias.size()) == groups * of_group,
              "its bias does not have one element for each output channel");
    std::vector<double> repeated;
    for (std::int64_t k = 0; k < op.channels; ++k)
      repeated.push_back(bias[k / (phases * of_group) * of_group + k % of_group]);
    op.bias = true;
    parameters.push_back(
        {"bias", make_constant(element::float32, {op.channels}, std::span<const double>(repeated)), {op.channels}});
  }
  const int sums = n.add(op, {x}, std::move(parameters));
  shape wanted = in;
  wanted[1] = groups * of_group;
  wanted[in.rank - 1] = v.out;
  if (in.rank == 4) wanted[2] = y.out;
  n.result(phases == 1 && n.shape_of(sums) == wanted && move.crop[0] == 0 && move.crop[1] == 0 ? sums : n.add(move, {sums}));
}

const importer known_conv_transpose("ConvTranspose", import_conv_transpose, 1,
                                    "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
                                    "weights and bias constant; 1 or 2 spatial axes; becomes Conv and DepthToSpace");

}  // namespace
}  // namespace onnx2hpp
