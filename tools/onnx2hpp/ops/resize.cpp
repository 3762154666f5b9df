// Resize and its predecessor Upsample, with nearest neighbours and integer factors.
#include "graph/node_context.hpp"

#include "dice/graph/ops/resize.hpp"

#include <fmt/format.h>

#include <cmath>

namespace onnx2hpp {

using dice::ops::resize;

template <> struct spelling<resize> {
  static constexpr const char* name = "resize";
  static void write(const resize& op, const resize& unset, initialiser& out) { out("factors", op.factors, unset.factors); }
};

namespace {

/// How output positions map to input positions, in the terms of ONNX Resize.
struct sampling {
  std::string coordinate = "asymmetric", nearest = "floor";
};

/// Index of the input element for output element `k` of an axis enlarged by `factor`, ignoring its ends.
double sampled(const sampling& s, std::int64_t k, std::int64_t factor) {
  const auto at = static_cast<double>(k), f = static_cast<double>(factor);
  double x = 0;
  if (s.coordinate == "asymmetric") x = at / f;
  else if (s.coordinate == "tf_half_pixel_for_nn") x = (at + 0.5) / f;
  else if (s.coordinate == "half_pixel" || s.coordinate == "pytorch_half_pixel" || s.coordinate == "half_pixel_symmetric")
    x = (at + 0.5) / f - 0.5;
  else node_context::refuse("its coordinate_transformation_mode is " + quote(s.coordinate) + ", which is not supported");
  if (s.nearest == "floor") return std::floor(x);
  if (s.nearest == "ceil") return std::ceil(x);
  if (s.nearest == "round_prefer_floor") return std::ceil(x - 0.5);
  if (s.nearest == "round_prefer_ceil") return std::floor(x + 0.5);
  node_context::refuse("its nearest_mode is " + quote(s.nearest));
}

/// Sets the factors of all axes from the node's scales of `axes` (all, if empty).
void set_factors(resize& op, const std::vector<double>& scales, const std::vector<std::int64_t>& axes, const shape& in) {
  const auto named = axes.empty() ? static_cast<std::size_t>(in.rank) : axes.size();
  if (scales.size() != named)
    node_context::refuse(fmt::format("it has {} scales or sizes for {} axes", scales.size(), named));
  for (std::size_t i = 0; i < named; ++i) {
    const double scale = scales[i];
    constexpr int most = 1 << 24;
    if (scale > most) node_context::refuse(fmt::format("it scales an axis by {:.6g}; at most {} is supported", scale, most));
    if (!(scale >= 1) || scale != std::floor(scale))
      node_context::refuse(fmt::format("it scales an axis by {:.6g}; only whole numbers are supported", scale));
    const auto a = axes.empty() ? i : static_cast<std::size_t>(node_context::axis(axes[i], in.rank));
    node_context::require(op.factors[a] == 1, "it names an axis twice");
    op.factors[a] = static_cast<int>(scale);
  }
}

void import(node_context& n, const std::vector<double>& scales, const std::vector<std::int64_t>& axes, const sampling& s) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const auto mode = n.text("mode", "nearest");
  if (mode != "nearest") n.refuse("its mode is " + quote(mode) + "; only nearest is supported");
  resize op;
  set_factors(op, scales, axes, in);
  for (int a = 0; a < in.rank; ++a)
    for (std::int64_t k = 0, f = op.factors[static_cast<std::size_t>(a)]; in[a] > 1 && f > 1 && k < f; ++k)
      n.require(sampled(s, k, f) == 0, "its coordinate_transformation_mode and nearest_mode do not just repeat elements");
  if (op.factors == resize{}.factors) n.pass();
  else n.result(n.add(op, {x}));
}

void import_upsample(node_context& n) { import(n, n.opset() < 9 ? n.reals("scales") : n.reals(1, "scales"), {}, {}); }

void import_resize(node_context& n) {
  if (n.opset() < 11) return import(n, n.reals(1, "scales"), {}, {});
  const sampling s{n.text("coordinate_transformation_mode", "half_pixel"), n.text("nearest_mode", "round_prefer_floor")};
  n.ignore({"cubic_coeff_a", "exclude_outside", "extrapolation_value", "antialias"});  // for other modes
  n.ignore_input(1);                                                                   // roi: also for other modes
  const auto axes = n.integers("axes");
  if (n.given(2) && !n.data(2, "scales").dims.empty() && n.data(2, "scales").dims[0] > 0) {
    n.ignore({"keep_aspect_ratio_policy"});
    return import(n, n.reals(2, "scales"), axes, s);
  }
  const auto policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") n.refuse("its keep_aspect_ratio_policy is " + quote(policy) + "; only stretch is supported");
  const shape in = n.shape_of(n.activation(0));
  std::vector<double> scales;
  for (const auto size : n.integers(3, "sizes")) {
    const auto a = scales.size() < axes.size() ? n.axis(axes[scales.size()], in.rank) : static_cast<int>(scales.size());
    n.require(a < in.rank, "it has more sizes than axes");
    scales.push_back(static_cast<double>(size) / static_cast<double>(in[a]));
  }
  import(n, scales, axes, s);
}

const importer known("Resize", import_resize, 10);
const importer forerunner("Upsample", import_upsample);

}  // namespace
}  // namespace onnx2hpp
