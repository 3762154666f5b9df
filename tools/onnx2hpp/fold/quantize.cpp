// Quantised constants: DequantizeLinear, which turns weights stored as integers into reals, and QuantizeLinear. Computed in
// float32, as ONNX Runtime does.
#include "fold/broadcast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace onnx2hpp {
namespace {

struct quantised_range {
  double least, most;
};

/// The range of a quantised type; nothing if `type` is not one.
std::optional<quantised_range> quantised_limits(element type) {
  switch (type) {
    case element::int8:
    case element::uint8:
    case element::int16:
    case element::uint16: {
      const auto n = integers_of(type);
      return quantised_range{n->least, n->most};
    }
    case element::int4:
      return quantised_range{-8, 7};
    case element::uint4:
      return quantised_range{0, 15};
    case element::int2:
      return quantised_range{-2, 1};
    case element::uint2:
      return quantised_range{0, 3};
    default:
      return {};
  }
}

/// The scales and zero points of a tensor: one for all elements, one for each index of an axis, or one for each block of
/// elements along an axis.
class quantisation {
 public:
  quantisation(node_context& n, const constant& x) : x_(x) {
    const constant& scale = n.data(1, "scale");
    if (!is_real(scale.type)) n.refuse(fmt::format("its scale holds {}, not real numbers", name_of(scale.type)));
    scales_.resize(static_cast<std::size_t>(scale.elements()));
    to_float32(scale, 0, scales_);
    zeros_.resize(scales_.size());
    if (n.given(2)) {
      const constant& zero = n.data(2, "zero point");
      zero_ = zero.type;
      n.require(zero.elements() == scale.elements() && (scale.elements() == 1 || zero.dims == scale.dims),
                "its zero point and its scale differ in shape");
      to_float32(zero, 0, zeros_);
    }
    choose(n, scale);
  }

  /// The zero point's type; none if it is left out.
  element zero_type() const { return zero_; }

  /// f(i, scale, zero point) for each element i.
  template <class F> void for_each(F f) const {
    std::size_t i = 0;
    for (std::int64_t o = 0; o < outer_; ++o)
      for (std::int64_t a = 0; a < extent_; ++a)
        for (std::int64_t k = 0; k < inner_; ++k, ++i) {
          const auto s = static_cast<std::size_t>(block_               ? (o * blocks_ + a / block_) * inner_ + k
                                                  : scales_.size() > 1 ? a
                                                                       : 0);
          f(i, scales_[s], zeros_[s]);
        }
  }

 private:
  void choose(node_context& n, const constant& scale) {
    n.ignore({"axis"});
    block_ = n.integer("block_size", 0);
    n.require(block_ >= 0, "its block_size is negative");
    const auto elements = x_.elements();
    if (block_ == 0 && scale.elements() == 1) {
      inner_ = elements;
      return;
    }
    if (n.opset() < 13)
      n.refuse(fmt::format("its scale has {} elements; before opset 13 it is one number", scale.elements()));
    const int axis = n.axis(n.integer("axis", 1), x_.rank());
    const auto a = static_cast<std::size_t>(axis);
    auto expected = block_ ? x_.dims : std::vector<std::int64_t>{x_.dims[a]};
    if (block_) expected[a] = blocks_ = x_.dims[a] / block_ + (x_.dims[a] % block_ != 0);
    if (scale.dims != expected)
      n.refuse(fmt::format("its scale is {}; its input needs {} along axis {}", text(scale.dims), text(expected), axis));
    if (elements == 0) return;
    extent_ = x_.dims[a];
    inner_ = element_count(std::span(x_.dims).subspan(a + 1));
    outer_ = elements / extent_ / inner_;
  }

  static std::string text(const std::vector<std::int64_t>& dims) {
    return dims.empty() ? "one number" : fmt::format("{}", fmt::join(dims, "x"));
  }

  const constant& x_;
  element zero_ = element::none;
  std::vector<float> scales_, zeros_;
  std::int64_t block_ = 0, blocks_ = 0, outer_ = 1, extent_ = 1, inner_ = 0;
};

/// y = (x - zero point) · scale
void fold_dequantize(node_context& n) {
  const constant& x = n.data(0, "input");
  if (x.type != element::int32 && !quantised_limits(x.type))
    n.refuse(fmt::format("its input holds {}, not quantised numbers", name_of(x.type)));
  const quantisation by(n, x);
  n.require(by.zero_type() == element::none || by.zero_type() == x.type, "its zero point has another type than its input");
  const auto to = static_cast<element>(n.integer("output_dtype", 0));
  if (to != element::none && to != element::float32 && !is_half(to)) n.refuse("its output_dtype is " + name_of(to));
  const auto all = std::make_shared<std::vector<float>>(static_cast<std::size_t>(x.elements()));
  auto& y = *all;
  if (x.type == element::int32) {  // float32 does not hold all of these
    const auto whole = reals(x);
    by.for_each([&](std::size_t i, float scale, float zero) { y[i] = static_cast<float>(whole[i] - zero) * scale; });
  } else {
    to_float32(x, 0, y);
    by.for_each([&](std::size_t i, float scale, float zero) { y[i] = (y[i] - zero) * scale; });
  }
  n.result(constant{element::float32, x.dims, std::as_bytes(std::span(y)), all});
}

/// y = x / scale, rounded to the nearest integer (ties to even), + zero point, within the limits of its type
void fold_quantize(node_context& n) {
  n.ignore({"saturate"});  // only for types of 8-bit reals
  const constant& x = n.data(0, "input");
  folded_size(x.dims);
  const quantisation by(n, x);
  const auto stated = static_cast<element>(n.integer("output_dtype", 0));
  const auto to = by.zero_type() != element::none ? by.zero_type() : stated != element::none ? stated : element::uint8;
  n.require(stated == element::none || stated == to, "its output_dtype is not the type of its zero point");
  const auto within = quantised_limits(to);
  if (!within) n.refuse("it gives " + name_of(to) + ", which is not supported");
  const auto precision = static_cast<element>(n.integer("precision", 0));
  if (precision != element::none && precision != element::float32)
    n.refuse("its precision is " + name_of(precision) + "; it is computed in FLOAT");
  std::vector<float> in(static_cast<std::size_t>(x.elements()));
  to_float32(x, 0, in);
  std::vector<double> y(in.size());
  by.for_each([&](std::size_t i, float scale, float zero) {
    const double q = static_cast<double>(std::nearbyint(in[i] / scale)) + static_cast<double>(zero);
    if (std::isnan(q)) n.refuse("its input has a NaN, or its scale is 0");
    y[i] = std::clamp(q, within->least, within->most);
  });
  n.result(make_constant(to, x.dims, std::span<const double>(y)));
}

const folder folds_quantised[] = {
    {"DequantizeLinear", fold_dequantize, 10, "axis>=13 block_size>=21 output_dtype>=23",
     "integers of 2 to 16 bits, and INT32; the weights of a network that computes in float32"},
    {"QuantizeLinear", fold_quantize, 10, "axis>=13 block_size>=21 output_dtype>=21 precision>=23 saturate>=19",
     "to integers of 2 to 16 bits"}};

}  // namespace
}  // namespace onnx2hpp
