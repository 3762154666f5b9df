// The attributes of cuDNN's descriptors, and the graph of a plan, computed on the CPU.
#pragma once

#include "emulated.hpp"
#include "numbers.hpp"

#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace emulated::cudnn {

// Attributes of descriptors

struct record;
using known = std::shared_ptr<record>;

struct attribute {
  std::vector<std::byte> bytes;
  std::int64_t count = 0;
  std::vector<known> parts;  ///< instead, of descriptors
};
/// A descriptor. Records that refer to it keep it after the real one is gone: once finalized it never changes.
struct record {
  cudnnBackendDescriptorType_t type{};
  std::map<int, attribute> set;
  known graph;  ///< the graph of an engine, a configuration or a plan
  bool finalized = false;

  const attribute* find(cudnnBackendAttributeName_t name) const {
    const auto i = set.find(name);
    return i == set.end() ? nullptr : &i->second;
  }
  template <class T> std::vector<T> values(cudnnBackendAttributeName_t name) const {
    const auto* a = find(name);
    std::vector<T> out(a ? a->bytes.size() / sizeof(T) : 0);
    if (!out.empty()) std::memcpy(out.data(), a->bytes.data(), out.size() * sizeof(T));
    return out;
  }
  template <class T> T value(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto* a = find(name);
    if (a && a->bytes.size() >= sizeof(T)) std::memcpy(&otherwise, a->bytes.data(), sizeof(T));
    return otherwise;
  }
  /// A scale, which may be float or double.
  double scale(cudnnBackendAttributeName_t name, double otherwise) const {
    const auto* a = find(name);
    if (!a) return otherwise;
    return a->bytes.size() == sizeof(double) ? value<double>(name, 0) : static_cast<double>(value<float>(name, 0));
  }
  known part(cudnnBackendAttributeName_t name) const {
    const auto* a = find(name);
    return a && !a->parts.empty() ? a->parts[0] : nullptr;
  }
};

// What a graph computes

/// Values of a tensor without gaps, whatever its strides.
using values = std::vector<float>;
using extents = std::vector<std::int64_t>;

struct tensor {
  std::int64_t id = 0, alignment = 1;
  std::optional<emulated::number> type;
  extents dims, strides;
  bool is_virtual = false;

  explicit tensor(const record& r)
      : id(r.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)),
        alignment(r.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1)),
        dims(r.values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(r.values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES)),
        is_virtual(r.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false)) {
    switch (r.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)) {
      case CUDNN_DATA_FLOAT:
        type = emulated::number::f32;
        break;
      case CUDNN_DATA_HALF:
        type = emulated::number::f16;
        break;
      case CUDNN_DATA_BFLOAT16:
        type = emulated::number::bf16;
        break;
      default:
        break;
    }
  }

  std::int64_t size() const {
    std::int64_t n = 1;
    for (const auto d : dims) n *= d;
    return n;
  }
  /// Bytes from its first element to its last.
  std::size_t reach() const {
    std::int64_t last = 0;
    for (std::size_t k = 0; k < dims.size(); ++k) last += (dims[k] - 1) * strides[k];
    return static_cast<std::size_t>(last + 1) * emulated::bytes_of(*type);
  }
  /// f(index, offset) of all elements in order; strides 0 repeat.
  template <class F> void walk(const extents& by, F f) const {
    const std::int64_t n = size(), inner = dims.empty() ? 1 : dims.back(), step = by.empty() ? 0 : by.back();
    extents at(dims.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < n; i += inner) {
      for (std::int64_t j = 0; j < inner; ++j) f(i + j, offset + j * step);
      for (std::size_t k = dims.size() - 1; k-- > 0;) {
        offset += by[k];
        if (++at[k] < dims[k]) break;
        offset -= dims[k] * by[k];
        at[k] = 0;
      }
    }
  }
  values load(const void* from) const {
    values out(static_cast<std::size_t>(size()));
    walk(strides, [&](std::int64_t i, std::int64_t at) { out[i] = emulated::read(*type, from, at); });
    return out;
  }
  void store(void* to, const values& from) const {
    walk(strides, [&](std::int64_t i, std::int64_t at) { emulated::write(*type, to, at, from[i]); });
  }
  /// Strides with which its values follow another's elements.
  extents along(const tensor& other) const {
    extents out(dims.size());
    std::int64_t stride = 1;
    for (std::size_t k = dims.size(); k-- > 0; stride *= dims[k]) {
      out[k] = dims[k] == 1 ? 0 : stride;
      if (dims.size() != other.dims.size() || (dims[k] != 1 && dims[k] != other.dims[k]))
        throw std::invalid_argument("shapes that do not go together");
    }
    return out;
  }
};

struct convolve {
  std::array<std::int64_t, 2> strides, dilations, pads;
  bool flipped;
  float alpha, beta;

  explicit convolve(const record& r) {
    const auto& how = *r.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    const auto pair = [&](cudnnBackendAttributeName_t name) {
      const auto v = how.values<std::int64_t>(name);
      if (v.size() != 2) throw std::invalid_argument("a convolution that is not two-dimensional");
      return std::array<std::int64_t, 2>{v[0], v[1]};
    };
    strides = pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    dilations = pair(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    pads = pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);  // padding at the ends follows from the result's extents
    flipped = how.value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
    alpha = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1));
    beta = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0));
  }

  /// Input planes are copied with their padding, and split into strides[0] × strides[1] planes that each hold every
  /// strides[0]-th row and strides[1]-th column. Then each tap of the window is one long loop over all rows, which
  /// vectorises. Results beyond a row's end are junk.
  values run(const tensor& xs, const tensor& ws, const tensor& ys, const values& x, const values& w,
             const values& before) const {
    const auto n_images = xs.dims[0], channels = ws.dims[1], groups = xs.dims[1] / channels, outputs = ws.dims[0] / groups;
    const auto height = xs.dims[2], width = xs.dims[3], kh = ws.dims[2], kw = ws.dims[3], oh = ys.dims[2], ow = ys.dims[3];
    const auto sy = strides[0], sx = strides[1], dy = dilations[0], dx = dilations[1];
    const auto rows = oh + (kh - 1) * dy / sy + 1, row = ow + (kw - 1) * dx / sx + 1, plane = rows * row;
    const auto whole = oh * row;
    values out(static_cast<std::size_t>(ys.size()));
    values apart(static_cast<std::size_t>(channels * sy * sx * plane + row + chunk));
    for (std::int64_t image = 0; image < n_images; ++image)
      for (std::int64_t group = 0; group < groups; ++group) {
        const float* from = &x[(image * groups + group) * channels * height * width];
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t py = 0; py < sy; ++py)
            for (std::int64_t px = 0; px < sx; ++px) {
              float* to = &apart[((c * sy + py) * sx + px) * plane];
              for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t q = 0; q < row; ++q) {
                  const auto iy = r * sy + py - pads[0], ix = q * sx + px - pads[1];
                  const bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
                  to[r * row + q] = inside ? from[(c * height + iy) * width + ix] : 0.0f;
                }
            }
        const float* weights = &w[group * outputs * channels * kh * kw];
        float* results = &out[(image * groups + group) * outputs * oh * ow];
        const auto work = static_cast<double>(outputs * channels * kh * kw * whole);
        emulated::split((outputs + at_once - 1) / at_once, work, [&](std::int64_t first, std::int64_t last) {
          for (auto k = first * at_once; k < std::min(last * at_once, outputs); k += at_once)
            for (std::int64_t begin = 0; begin < whole; begin += chunk) {
              const auto n = std::min(at_once, outputs - k);
              float sums[at_once][chunk] = {};
              for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t ky = 0; ky < kh; ++ky)
                  for (std::int64_t kx = 0; kx < kw; ++kx) {
                    const auto phase = (c * sy + ky * dy % sy) * sx + kx * dx % sx;
                    const float* in = &apart[phase * plane + ky * dy / sy * row + kx * dx / sx + begin];
                    const auto tap = flipped ? (kh - 1 - ky) * kw + kw - 1 - kx : ky * kw + kx;
                    float factors[at_once] = {};
                    for (std::int64_t i = 0; i < n; ++i) factors[i] = weights[((k + i) * channels + c) * kh * kw + tap];
                    add(sums, in, factors);
                  }
              for (std::int64_t i = 0; i < n; ++i)
                for (auto p = begin; p < std::min(begin + chunk, whole); ++p)
                  if (p % row < ow) results[((k + i) * oh + p / row) * ow + p % row] = alpha * sums[i][p - begin];
            }
        });
      }
    if (beta != 0)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += beta * before[i];
    return out;
  }

 private:
  static constexpr std::int64_t at_once = 4, chunk = 256;
  // Without sanitizers, which would take most of the time here.
  __attribute__((no_sanitize("address", "undefined", "thread"))) static void add(float (&sums)[at_once][chunk],
                                                                                 const float* __restrict in,
                                                                                 const float (&factors)[at_once]) {
    const float a = factors[0], b = factors[1], c = factors[2], d = factors[3];
    for (std::int64_t i = 0; i < chunk; ++i) {
      const float x = in[i];
      sums[0][i] += a * x;
      sums[1][i] += b * x;
      sums[2][i] += c * x;
      sums[3][i] += d * x;
    }
  }
};

struct pointwise {
  cudnnPointwiseMode_t mode;
  float alpha1, alpha2, lower, upper, slope, elu, swish;
  bool keeps_nan;  ///< in ReLU

  explicit pointwise(const record& r) {
    const auto& how = *r.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const auto number = [&](cudnnBackendAttributeName_t name, double otherwise) {
      return static_cast<float>(how.scale(name, otherwise));
    };
    mode = how.value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
    lower = number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
    upper = number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, std::numeric_limits<double>::infinity());
    slope = number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
    keeps_nan = how.value(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_NOT_PROPAGATE_NAN) == CUDNN_PROPAGATE_NAN;
    elu = number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1);
    swish = number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
    alpha1 = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1));
    alpha2 = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1));
    of(0, 0);  // throws if the function is not supported here
  }

  float of(float x, float b) const {
    switch (mode) {
      case CUDNN_POINTWISE_ADD:
        return x + b;
      case CUDNN_POINTWISE_SUB:
        return x - b;
      case CUDNN_POINTWISE_MUL:
        return x * b;
      case CUDNN_POINTWISE_DIV:
        return x / b;
      case CUDNN_POINTWISE_MAX:
        return x < b ? b : x;
      case CUDNN_POINTWISE_MIN:
        return x > b ? b : x;
      case CUDNN_POINTWISE_IDENTITY:
        return x;
      case CUDNN_POINTWISE_RELU_FWD:
        if (std::isnan(x) && !keeps_nan) return lower;
        if (x < lower) return slope == 0 ? lower : lower + slope * (x - lower);  // 0 · ∞ is NaN
        return x > upper ? upper : x;
      case CUDNN_POINTWISE_SIGMOID_FWD:
        return 1 / (1 + std::exp(-x));
      case CUDNN_POINTWISE_TANH_FWD:
        return std::tanh(x);
      case CUDNN_POINTWISE_ELU_FWD:
        return x < 0 ? elu * std::expm1(x) : x;
      case CUDNN_POINTWISE_SWISH_FWD:
        return x / (1 + std::exp(-swish * x));
      default:
        throw std::invalid_argument("a pointwise operation of mode " + std::to_string(mode));
    }
  }
  values run(const tensor& xs, const tensor* bs, const tensor& ys, const values& x, const values* b) const {
    values out(static_cast<std::size_t>(ys.size()));
    ys.walk(xs.along(ys), [&](std::int64_t i, std::int64_t at) { out[i] = alpha1 * x[at]; });
    if (b)
      ys.walk(bs->along(ys), [&](std::int64_t i, std::int64_t at) {
        auto& y = out[i];
        y = of(y, alpha2 * (*b)[at]);
      });
    else
      for (auto& y : out) y = of(y, 0);
    return out;
  }
};

struct operation {
  tensor x, y;
  std::optional<tensor> other;  ///< weights, second operand
  std::optional<convolve> convolution;
  std::optional<pointwise> function;
};

class program {
 public:
  explicit program(const record& graph) {
    const auto* all = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    if (!all) throw std::invalid_argument("a graph without operations");
    for (const auto& r : all->parts) {
      const auto tensor_of = [&](cudnnBackendAttributeName_t name) { return tensor(*r->part(name)); };
      if (r->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
        operations_.push_back({tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X),
                               tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y),
                               tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W),
                               convolve(*r),
                               {}});
        if (operations_.back().x.dims.size() != 4) throw std::invalid_argument("a convolution that is not two-dimensional");
      } else if (r->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
        operations_.push_back({tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                               tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_YDESC),
                               {},
                               {},
                               pointwise(*r)});
        if (r->part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
          operations_.back().other = tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      } else {
        throw std::invalid_argument("an operation of type " + std::to_string(r->type));
      }
    }
    for (const auto& o : operations_)
      for (const auto* t : {&o.x, &o.y, o.other ? &*o.other : &o.x})
        if (!t->type) throw std::invalid_argument("a tensor's data type");
  }

  /// Its tensors in memory.
  std::vector<tensor> tensors() const {
    std::vector<tensor> out;
    for (const auto& o : operations_)
      for (const auto* t : {&o.x, &o.y, o.other ? &*o.other : &o.x})
        if (!t->is_virtual) out.push_back(*t);
    return out;
  }

  void run(const std::map<std::int64_t, void*>& memory) const {
    std::map<std::int64_t, values> done;
    std::vector<const operation*> left;
    for (const auto& o : operations_) left.push_back(&o);
    const auto known_now = [&](const tensor& t) { return !t.is_virtual || done.count(t.id) > 0; };
    const auto get = [&](const tensor& t) -> const values& {
      const auto i = done.find(t.id);
      return i != done.end() ? i->second : done[t.id] = t.load(memory.at(t.id));
    };
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(), [&](const operation* o) {
        return known_now(o->x) && (!o->other || known_now(*o->other));
      });
      if (next == left.end()) throw std::invalid_argument("operations that wait for each other");
      const auto& o = **next;
      left.erase(next);
      const auto& x = get(o.x);
      const values* other = o.other ? &get(*o.other) : nullptr;
      values y;
      if (o.convolution) {
        const bool reads = o.convolution->beta != 0 && !o.y.is_virtual;
        y = o.convolution->run(o.x, *o.other, o.y, x, *other, reads ? o.y.load(memory.at(o.y.id)) : values{});
      } else {
        y = o.function->run(o.x, other ? &*o.other : nullptr, o.y, x, other);
      }
      if (!o.y.is_virtual) o.y.store(memory.at(o.y.id), y);
      done[o.y.id] = std::move(y);
    }
  }

 private:
  std::vector<operation> operations_;
};

}  // namespace emulated::cudnn
