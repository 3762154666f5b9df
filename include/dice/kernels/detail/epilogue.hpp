// What a fusion group does after its anchor, as values: one function for each activation, shared by all layers.
#pragma once

#include "dice/kernels/activation.hpp"
#include "dice/kernels/kernel.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>

#if defined(__clang__)
#define DICE_SHARED [[gnu::noinline]]
#else
#define DICE_SHARED [[gnu::noinline, gnu::noclone]]
#endif

namespace dice::kernels::detail {

/// Rows of the anchor's results on their way to the output: rows `from` and `to` lie `from_stride` and `to_stride` elements
/// apart. `from` may be `to`. `bias`, if not null, is added to each row.
struct results {
  float* to = nullptr;
  const float* from = nullptr;
  std::ptrdiff_t to_stride = 0, from_stride = 0;
  const float* bias = nullptr;
  int rows = 1;
  std::ptrdiff_t columns = 0;
};

/// An activation that is a slope below 0 and limits: min(max(x, slope · x, low), high), where `exact`.
struct limits {
  bool exact = true;
  float slope = 1;  ///< 0 … 1
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};
template <class Op> constexpr limits limits_of(const Op&) { return {.exact = false}; }
constexpr limits limits_of(const graph::nothing&) { return {}; }
constexpr limits limits_of(const ops::relu&) { return {.low = 0}; }
constexpr limits limits_of(const ops::clip& op) { return {.low = op.low, .high = op.high}; }
constexpr limits limits_of(const ops::leaky_relu& op) {
  return {.exact = op.alpha >= 0 && op.alpha <= 1, .slope = op.alpha};
}

/// to = activation(from + bias + residual); with `halves`, of the largest of each 2 × 2 results, and without a residual.
struct epilogue {
  float* output = nullptr;           ///< of the group
  const float* residual = nullptr;   ///< as large as the output, or null
  const void* activation = nullptr;  ///< the operator, or null
  void (*write)(const epilogue&, const results&) = nullptr;
  bool halves = false;  ///< the output has half of the result's rows and columns, rounded down
  limits bounds{};      ///< the activation in another form, for kernels that finish their results in registers

  bool empty() const { return !residual && !activation; }
  void operator()(const results& b) const { write(*this, b); }
  /// Finishes n results that lie in the output already.
  void operator()(float* at, std::ptrdiff_t n) const {
    if (!empty()) write(*this, {.to = at, .from = at, .columns = n});
  }
};

/// The reference: one element after the other.
template <class Activation> void write_plain(const epilogue& e, const results& b) {
  Activation op{};
  if (e.activation) op = *static_cast<const Activation*>(e.activation);
  for (int r = 0; r < b.rows; ++r) {
    float* to = b.to + r * b.to_stride;
    for (std::ptrdiff_t i = 0; i < b.columns; ++i) {
      float x = b.from[r * b.from_stride + i];
      if (b.bias) x += b.bias[r];
      if (e.residual) x += e.residual[to - e.output + i];
      to[i] = apply(op, x);
    }
  }
}

/// The same by vectors.
template <class Activation> void write_vectors(const epilogue& e, const results& b) {
  Activation op{};
  if (e.activation) op = *static_cast<const Activation*>(e.activation);
  for (int r = 0; r < b.rows; ++r) {
    float* to = b.to + r * b.to_stride;
    const float* from = b.from + r * b.from_stride;
    const float* residual = e.residual ? e.residual + (to - e.output) : nullptr;
    const vec bias = splat(b.bias ? b.bias[r] : 0.0f);
    std::ptrdiff_t i = 0;
    for (; i + width <= b.columns; i += width) {
      vec x = load(from + i) + bias;
      if (residual) x += load(residual + i);
      store(to + i, apply(op, x));
    }
    if (const auto n = b.columns - i; n > 0) {
      vec x = load_first(from + i, n) + bias;
      if (residual) x += load_first(residual + i, n);
      store_first(to + i, apply(op, x), n);
    }
  }
}

/// Around compute(): a backend that converts layouts does so here.
struct as_it_is {
  template <class F>
  static void call(graph::shapes, const tensor::shape&, const kernels::call& c, const epilogue& e, const F& f) {
    f(c, e);
  }
};

/// The part of a kernel that knows the group: hands constants to Kernel::compute(op, inputs, result, call, epilogue), which
/// all layers of an operator share.
template <class Kernel, bool Vectors, class Around = as_it_is> struct thin {
  // Not inlined, and not cloned for constants that the compiler sees: one body for all layers of the operator.
  template <class Op>
  DICE_SHARED static void shared(const Op& op, graph::shapes in, const tensor::shape& result, const call& c,
                                 const epilogue& e) {
    Around::call(in, result, c, e,
                 [&](const kernels::call& own, const epilogue& finish) { Kernel::compute(op, in, result, own, finish); });
  }
  template <class Activation> static constexpr auto write = Vectors ? &write_vectors<Activation> : &write_plain<Activation>;

  template <class Group> static void run(const call& c) {
    epilogue e{.output = c.output, .write = write<graph::nothing>, .halves = Group::has_pool};
    if constexpr (Group::has_residual) e.residual = c.inputs[Group::inputs.size()];
    if constexpr (Group::has_activation) {
      using op = std::remove_cvref_t<decltype(Group::activation::op)>;
      e.activation = &Group::activation::op;
      e.write = write<op>;
      e.bounds = limits_of(Group::activation::op);
    }
    shared(Group::anchor::op, Group::inputs, Group::anchor::result, c, e);
  }
  /// Only for kernels with prepare(op, inputs, result, variant, from, to), which packs the weights.
  template <class Group> static void pack(int variant, source from, std::byte* to) {
    Kernel::prepare(Group::anchor::op, Group::inputs, Group::anchor::result, variant, from, to);
  }
};

}  // namespace dice::kernels::detail
