// Resize and its predecessor Upsample.
#include "graph/node_context.hpp"

#include "dice/graph/ops/antialiased_resize.hpp"
#include "dice/graph/ops/resize.hpp"
#include "dice/meta/enum_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace onnx2hpp {

using dice::ops::antialiased_resize;
using dice::ops::resize;
using dice::ops::resizing;

namespace {

/// The value with this name, which is that of the node's attribute `attribute`.
template <class Enum> Enum named(const std::string& name, const char* attribute) {
  const auto value = dice::meta::enum_value<Enum>(name);
  if (!value) node_context::refuse(fmt::format("its {} is {}, which is not supported", attribute, quote(name)));
  return *value;
}

using axes_t = std::vector<std::int64_t>;

/// Calls set(value, axis) for each of the node's values for its axes (all, if empty).
template <class T, class Set>
void for_axes(const std::vector<T>& values, const axes_t& axes, const shape& in, const char* what, Set set) {
  const auto named = axes.empty() ? static_cast<std::size_t>(in.rank) : axes.size();
  if (values.size() != named) node_context::refuse(fmt::format("it has {} {} for {} axes", values.size(), what, named));
  std::vector<bool> seen(static_cast<std::size_t>(in.rank));
  for (std::size_t i = 0; i < named; ++i) {
    const auto a = axes.empty() ? static_cast<int>(i) : node_context::axis(axes[i], in.rank);
    node_context::require(!seen[a], "it names an axis twice");
    seen[a] = true;
    set(values[i], a);
  }
}

/// Extents and scales from the node's scales. The products are of float32, as in ONNX Runtime: 10 elements by 0.7 are 7.
void take_scales(resize& op, const std::vector<double>& scales, const axes_t& axes, const shape& in) {
  for_axes(scales, axes, in, "scales", [&](double scale, int a) {
    constexpr double most = 1 << 24;
    if (!(scale > 0)) node_context::refuse(fmt::format("it scales an axis by {:.6g}", scale));
    const double extent = std::floor(static_cast<float>(in[a]) * static_cast<float>(scale));
    if (!(extent < most))
      node_context::refuse(fmt::format("it scales an axis by {:.6g}; at most {:.0f} elements are supported", scale, most));
    op.to[a] = static_cast<std::int64_t>(extent);
    op.scales[a] = static_cast<float>(scale);
  });
}

/// The same from its sizes. If the aspect ratio is kept, all named axes have the scale of one of them, as a fraction.
void take_sizes(resize& op, node_context& n, const axes_t& axes, const shape& in) {
  const auto sizes = n.integers(3, "sizes");
  const auto policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    n.refuse("its keep_aspect_ratio_policy is " + quote(policy));
  op.by_sizes = true;
  std::int64_t over = 0, under = 1;
  for_axes(sizes, axes, in, "sizes", [&](std::int64_t size, int a) {
    constexpr int most = 1 << 24;
    n.require(size > 0 && size < most && in[a] < most, "one of its sizes is out of range");
    op.to[a] = size;
    op.scales[a] = static_cast<float>(static_cast<double>(size) / static_cast<double>(in[a]));
    const auto more = size * under - over * in[a];
    if (over == 0 || (policy == "not_larger" ? more < 0 : more > 0)) {
      over = size;
      under = in[a];
    }
  });
  if (policy == "stretch") return;
  op.ratio_over = static_cast<int>(over);
  op.ratio_under = static_cast<int>(under);
  for_axes(sizes, axes, in, "sizes", [&](std::int64_t, int a) {
    op.to[a] = (2 * over * in[a] + under) / (2 * under);
    op.scales[a] = static_cast<float>(static_cast<double>(over) / static_cast<double>(under));
  });
}

/// Makes it a repetition of elements if it is one.
void simplify(resize& op, const shape& in) {
  if (op.mode != resizing::nearest) return;
  resize repeats;
  for (int a = 0; a < in.rank; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const auto factor = op.to[a] / in[a];
    if (op.to[a] % in[a] != 0) return;
    const auto of = op.axis(a, in, op.to);
    for (std::int64_t k = 0; k < op.to[a]; ++k)
      if (const auto s = dice::ops::samples_of(of, static_cast<int>(k)); s.beyond || s.at(0, of.in) != k / factor) return;
    repeats.factors[i] = factor;
  }
  op = repeats;
}

void finish(node_context& n, resize op) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  for (int a = 0; a < in.rank; ++a) n.require(op.to[a] > 0, "an axis of its result is empty");
  simplify(op, in);
  bool same = true;
  for (int a = 0; a < in.rank; ++a)
    same = same && (op.mode == resizing::repeat ? op.factors[a] == 1 : dice::ops::samples_one(op.axis(a, in, op.to)));
  if (same) n.pass();
  else n.result(n.add(op, {x}));
}

/// The same with antialias: a layer for each axis, those that shrink first.
void filter(node_context& n, const resize& op) {
  int x = n.activation(0);
  const shape in = n.shape_of(x);
  for (const bool shrinks : {true, false})
    for (int a = 0; a < in.rank; ++a) {
      const auto i = static_cast<std::size_t>(a);
      if (shrinks != (op.scales[i] < 1) || dice::ops::samples_one(op.axis(a, in, op.to))) continue;
      n.require(op.to[a] > 0, "an axis of its result is empty");
      x = n.add(antialiased_resize{.axis = a,
                                   .to = op.to[a],
                                   .mode = op.mode,
                                   .scale = op.scales[i],
                                   .from = op.from,
                                   .exclude_outside = op.exclude_outside,
                                   .cubic_a = op.cubic_a},
                {x});
    }
  n.result(x);
}

resize read_mode(node_context& n) {
  resize op;
  op.to = n.shape_of(n.activation(0));
  op.mode = named<resizing>(n.text("mode", "nearest"), "mode");
  n.require(op.mode != resizing::repeat, "its mode is \"repeat\"");
  op.from = dice::ops::coordinates::asymmetric;
  op.nearest = dice::ops::rounding::floor;
  return op;
}

void import_upsample(node_context& n) {
  auto op = read_mode(n);
  const auto scales = n.opset() < 9 ? n.reals("scales") : n.reals(1, "scales");
  for (const double scale : scales)
    if (scale > 0 && scale < 1)
      n.refuse(fmt::format("it scales an axis by {:.6g}, and Upsample only enlarges", scale),
               "export the model with opset 11 or later, where Resize also shrinks");
  take_scales(op, scales, {}, op.to);
  finish(n, op);
}

void import_resize(node_context& n) {
  auto op = read_mode(n);
  const shape in = op.to;
  if (n.opset() < 11) {
    if (op.mode == resizing::nearest) op.nearest = dice::ops::rounding::by_scale;
    take_scales(op, n.reals(1, "scales"), {}, in);
    return finish(n, op);
  }
  op.from = named<dice::ops::coordinates>(n.text("coordinate_transformation_mode", "half_pixel"),
                                          "coordinate_transformation_mode");
  op.nearest = named<dice::ops::rounding>(n.text("nearest_mode", "round_prefer_floor"), "nearest_mode");
  n.require(op.nearest != dice::ops::rounding::by_scale, "its nearest_mode is \"by_scale\"");
  op.cubic_a = n.real("cubic_coeff_a", -0.75f);
  op.exclude_outside = n.integer("exclude_outside", 0) != 0;
  op.extrapolation = n.real("extrapolation_value", 0.0f);
  const auto axes = n.integers("axes");
  // An input that is not given may be an empty tensor.
  const bool scales = n.given(2) && n.data(2, "scales").elements() > 0;
  const bool sizes = n.given(3) && n.data(3, "sizes").elements() > 0;
  n.require(scales || sizes, "it has neither scales nor sizes");
  if (scales && sizes) n.refuse("it has scales and sizes, and only one of them may be given", "remove one of these inputs");
  if (scales) {
    n.ignore({"keep_aspect_ratio_policy"});
    take_scales(op, n.reals(2, "scales"), axes, in);
  } else {
    take_sizes(op, n, axes, in);
  }
  if (op.from == dice::ops::coordinates::tf_crop_and_resize) {
    const auto roi = n.reals(1, "roi");
    const auto half = roi.size() / 2;
    n.require(roi.size() % 2 == 0, "its roi has an odd number of elements");
    n.require(std::ranges::all_of(roi, [](double at) { return std::isfinite(at); }), "its roi has NaN or an infinity");
    for_axes(std::vector<double>(roi.begin(), roi.begin() + static_cast<std::ptrdiff_t>(half)), axes, in,
             "starts in its roi", [&](double at, int a) { op.begin[a] = static_cast<float>(at); });
    for_axes(std::vector<double>(roi.begin() + static_cast<std::ptrdiff_t>(half), roi.end()), axes, in, "ends in its roi",
             [&](double at, int a) { op.end[a] = static_cast<float>(at); });
  } else {
    n.ignore_input(1);
  }
  bool smaller = false;
  for (int a = 0; a < in.rank; ++a) smaller = smaller || op.scales[a] < 1;
  if (n.integer("antialias", 0) != 0 && smaller && op.mode != resizing::nearest) filter(n, op);
  else finish(n, op);
}

const importer known_resize(
    "Resize", import_resize, 10,
    "antialias>=18 axes>=18 coordinate_transformation_mode>=11 cubic_coeff_a>=11 exclude_outside>=11 "
    "extrapolation_value>=11 keep_aspect_ratio_policy>=18 mode nearest_mode>=11",
    "scales, sizes and roi constant; either scales or sizes; positions follow sizes exactly and scales as in ONNX Runtime; "
    "align_corners follows the extents, not the scales, like PyTorch and ONNX Runtime; with antialias, becomes an "
    "AntialiasedResize for each axis");
const importer forerunner("Upsample", import_upsample, {1, 9}, "mode scales<9",
                          "scales constant; at least 1; becomes Resize");

}  // namespace
}  // namespace onnx2hpp
