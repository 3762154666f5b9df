// What a kernel is called with: where its tensors lie, and what follows the anchor.
#pragma once

#include "dice/kernels/activation.hpp"
#include "dice/kernels/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#if defined(__clang__)
#define DICE_SHARED [[gnu::noinline]]
#else
#define DICE_SHARED [[gnu::noinline, gnu::noclone]]
#endif

namespace dice::kernels::detail {

/// Rows of the anchor's results on their way to the output: rows of `from` and `to` lie `from_stride` and `to_stride`
/// elements apart. `from` may be `to`. `bias`, if not null, is added to each row.
struct results {
  float* to = nullptr;
  const float* from = nullptr;
  std::ptrdiff_t to_stride = 0, from_stride = 0;
  const float* bias = nullptr;
  int rows = 1;
  std::ptrdiff_t columns = 0;
};

/// to = activation(from + bias + residual); with `pools_2x2`, for the largest `from` of each 2 × 2 results, and without a
/// residual.
struct epilogue {
  float* output = nullptr;          ///< of the group
  const float* residual = nullptr;  ///< of the output's shape, or null
  /// Elements from one plane of the output to the next, and how many more from one of the residual's to its next.
  std::ptrdiff_t plane = 0, residual_skip = 0;
  graph::activation activation{};
  void (*write)(const epilogue&, const results&) = nullptr;
  bool pools_2x2 = false;  ///< the output has half of the result's rows and columns, rounded down
  limits bounds{};         ///< the activation in another form, for kernels that finish their results in registers

  bool empty() const { return !residual && !activation; }
  /// The residual's element for the output's at `to`.
  const float* residual_at(const float* to) const {
    const auto offset = to - output;
    return residual + offset + (residual_skip ? offset / plane * residual_skip : 0);
  }
  void operator()(const results& b) const { write(*this, b); }
  /// Finishes n results that lie in the output already.
  void operator()(float* at, std::ptrdiff_t n) const {
    if (!empty()) write(*this, {.to = at, .from = at, .columns = n});
  }
};

/// The reference: one element after the other.
template <function F> void write_plain(const epilogue& e, const results& b) {
  for (int r = 0; r < b.rows; ++r) {
    float* to = b.to + r * b.to_stride;
    const float* residual = e.residual ? e.residual_at(to) : nullptr;
    for (std::ptrdiff_t i = 0; i < b.columns; ++i) {
      float x = b.from[r * b.from_stride + i];
      if (b.bias) x += b.bias[r];
      if (residual) x += residual[i];
      to[i] = apply<F>(e.activation, x);
    }
  }
}

/// The same by vectors.
template <function F> void write_vectors(const epilogue& e, const results& b) {
  const auto f = e.activation;
  for (int r = 0; r < b.rows; ++r) {
    float* to = b.to + r * b.to_stride;
    const float* from = b.from + r * b.from_stride;
    const float* residual = e.residual ? e.residual_at(to) : nullptr;
    const vec bias = splat(b.bias ? b.bias[r] : 0.0f);
    std::ptrdiff_t i = 0;
    for (; i + width <= b.columns; i += width) {
      vec x = load(from + i) + bias;
      if (residual) x += load(residual + i);
      store(to + i, apply<F>(f, x));
    }
    if (const auto n = b.columns - i; n > 0) {
      vec x = load_first(from + i, n) + bias;
      if (residual) x += load_first(residual + i, n);
      store_first(to + i, apply<F>(f, x), n);
    }
  }
}

/// `f` as an epilogue, by vectors or one element after the other.
template <bool Vectors> epilogue epilogue_of(const graph::activation& f) {
  epilogue out{.activation = f, .bounds = limits_of(f)};
  out.write = with_function(f, []<function F>() { return Vectors ? &write_vectors<F> : &write_plain<F>; });
  return out;
}

/// One execution as a kernel on floats sees it.
struct call {
  floats inputs;
  float* output;
  floats parameters;
  const std::byte* packed;
  std::byte* scratch;
  const tensor::region* part;
  const algorithm::choice& how;
  tensor::layout result;  ///< of the output
  std::int64_t output_pitch;
  std::span<const tensor::storage> stored;  ///< of the inputs, as in task

  call(const task& t, const buffers& b)
      : inputs(b.inputs),
        output(static_cast<float*>(b.output)),
        parameters(b.parameters),
        packed(b.packed),
        scratch(b.scratch),
        part(b.part),
        how(t.how),
        result(t.output.layout),
        output_pitch(t.output.pitch),
        stored(t.stored) {}

  /// Elements from one plane of the output, or of operand k, to the next; `dense` if it is not part of a larger tensor.
  std::int64_t output_plane(std::int64_t dense) const { return output_pitch ? output_pitch : dense; }
  std::int64_t plane(std::size_t k, std::int64_t dense) const { return pitch(k) ? pitch(k) : dense; }
  std::int64_t pitch(std::size_t k) const { return k < stored.size() ? stored[k].pitch : 0; }
};

/// An execution of a kernel that works on plain tensors only.
template <bool Vectors> struct plain_execution {
  detail::call call;
  epilogue finish;

  plain_execution(const task& t, const buffers& b) : call(t, b), finish(epilogue_of<Vectors>(t.activation)) {
    finish.output = call.output;
    finish.pools_2x2 = t.pools_2x2;
    if (t.residual) finish.residual = call.inputs[t.inputs.size()];
  }
};

}  // namespace dice::kernels::detail

namespace dice::kernels {
using detail::call;
}
