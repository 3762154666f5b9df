#pragma once

#include "dice/kernels/detail/arithmetic.hpp"
#include "dice/kernels/openmp/detail/rows.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// A tensor of `rank` axes and two operands broadcast to it: extents, and the operands' strides (0 where they repeat).
/// Adjacent axes along which both operands continue with an even stride are merged: equal shapes and scalars leave one axis,
/// a value per channel leaves two.
struct broadcast {
  int rank = 0;
  std::int64_t extent[tensor::max_rank]{};
  std::int64_t stride[2][tensor::max_rank]{};

  broadcast(const tensor::shape& a, const tensor::shape& b, const tensor::shape& result) {
    const tensor::shape* operand[2] = {&a, &b};
    for (int axis = 0; axis < result.rank; ++axis) {
      if (result[axis] == 1) continue;
      std::int64_t s[2];
      for (int k = 0; k < 2; ++k) {
        const auto& in = *operand[k];
        const int own = axis - (result.rank - in.rank);
        s[k] = own < 0 || in[own] == 1 ? 0 : in.product(own + 1, in.rank);
      }
      const auto n = result[axis];
      if (rank > 0 && stride[0][rank - 1] == s[0] * n && stride[1][rank - 1] == s[1] * n) {
        extent[rank - 1] *= n;
        stride[0][rank - 1] = s[0];
        stride[1][rank - 1] = s[1];
      } else {
        extent[rank] = n;
        stride[0][rank] = s[0];
        stride[1][rank] = s[1];
        ++rank;
      }
    }
    if (rank == 0) extent[rank++] = 1;
  }
};

/// Calls f(at, n, offsets) for runs of elements [begin, end) of the result in which both operands lie along the last axis;
/// the offsets are those of the operands at the first element.
template <class F> void each_run(const broadcast& form, std::int64_t begin, std::int64_t end, const F& f) {
  const int last = form.rank - 1;
  const auto row = form.extent[last];
  for (auto at = begin; at < end;) {
    const auto column = at % row;
    std::int64_t offset[2] = {column * form.stride[0][last], column * form.stride[1][last]};
    for (std::int64_t axis = last - 1, rest = at / row; axis >= 0; --axis) {
      const auto i = rest % form.extent[axis];
      rest /= form.extent[axis];
      for (int k = 0; k < 2; ++k) offset[k] += i * form.stride[k][axis];
    }
    const auto n = std::min(row - column, end - at);
    f(at, n, offset);
    at += n;
  }
}

/// y[i] = f(a[i · sa], b[i · sb]), strides 0 or 1.
template <class F>
void binary_row(float* y, const float* a, std::int64_t sa, const float* b, std::int64_t sb, std::int64_t n) {
  constexpr F f;
  const vec a0 = splat(*a), b0 = splat(*b);
  std::int64_t i = 0;
  for (; i + width <= n; i += width) store(y + i, f(sa ? load(a + i) : a0, sb ? load(b + i) : b0));
  if (const auto rest = n - i; rest > 0)
    store_first(y + i, f(sa ? load_first(a + i, rest) : a0, sb ? load_first(b + i, rest) : b0), rest);
}

/// An operand of a binary operator: a tensor, or a parameter (which is always plain).
struct operand {
  const float* at;
  const tensor::shape& shape;
  bool parameter = false;

  /// Whether it lies in memory as the result does.
  bool like(const tensor::shape& result) const { return !parameter && shape == result; }
};

/// y = f(a, b) with broadcasting to `result`, all plain, and then the epilogue. y may be a if a has the shape `result`.
template <class F>
DICE_SHARED void binary_plain(float* y, const operand& a, const operand& b, const tensor::shape& result, const epilogue& e) {
  const broadcast form(a.shape, b.shape, result);
  const auto sa = form.stride[0][form.rank - 1], sb = form.stride[1][form.rank - 1];
  parallel_elements(result.elements(), [&](std::int64_t begin, std::int64_t end) {
    each_run(form, begin, end, [&](std::int64_t at, std::int64_t n, const std::int64_t* offset) {
      binary_row<F>(y + at, a.at + offset[0], sa, b.at + offset[1], sb, n);
    });
    e(y + begin, end - begin);
  });
}

/// The same for blocked tensors, with operands that algorithm::broadcasts_blocks and broadcasts_channels allow.
template <class F>
DICE_SHARED void binary_blocked(float* y, const operand& a, const operand& b, const tensor::shape& result,
                                const epilogue& e) {
  constexpr F f;
  using tensor::block;
  const auto blocks = tensor::blocks(result[1]);
  const auto sa = a.like(result) ? block : 0, sb = b.like(result) ? block : 0;
  each_row(result, tensor::layout::blocked, e, [&](std::int64_t row, std::int64_t at, std::int64_t end) {
    // One pixel for the whole row.
    const auto held = [&](const operand& x) {
      if (x.like(result)) return lanes(0);
      if (x.shape.elements() == 1) return lanes(*x.at);
      const auto first = row % blocks * block;
      if (x.parameter) return lanes(x.at + first, result[1] - first);
      return lanes(x.at + (x.shape[0] == 1 ? first : row * block), block);
    };
    const lanes la = held(a), lb = held(b);
    const float *pa = sa ? a.at + at : la.of, *pb = sb ? b.at + at : lb.of;
    for (; at < end; at += block, pa += sa, pb += sb)
      for (int p = 0; p < block; p += width) store(y + at + p, f(load(pa + p), load(pb + p)));
  });
}

template <class F>
void binary(const call& c, const operand& a, const operand& b, const tensor::shape& result, const epilogue& e) {
  if (c.result == tensor::layout::plain) return binary_plain<F>(c.output, a, b, result, e);
  const tensor::shape row{tensor::elements(result, c.result)};
  if (a.like(result) && b.like(result)) binary_plain<F>(c.output, {a.at, row}, {b.at, row}, row, e);
  else binary_blocked<F>(c.output, a, b, result, e);
}

/// y = f(a, b) with broadcasting, a and b in the operator's order.
template <graph::arithmetic Function> struct binary_kernel : base<ops::binary<Function>> {
  using F = combined<Function>;
  static void compute(const ops::binary<Function>& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const epilogue& e) {
    const operand x{c.inputs[0], in[0]};
    if (op.which == ops::constant::none) return binary<F>(c, x, {c.inputs[1], in[1]}, result, e);
    const operand fixed{c.parameters[0], op.fixed, true};
    if (op.which == ops::constant::first) binary<F>(c, fixed, x, result, e);
    else binary<F>(c, x, fixed, result, e);
  }
};

}  // namespace dice::kernels::openmp
