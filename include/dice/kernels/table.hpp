// Which functions compute a layer: known without the kernels themselves.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/convolutions.hpp"
#include "dice/kernels/operators.hpp"

#include <concepts>

namespace dice::kernels {

/// Whether this program has the kernels of `Backend`. Without, it may have a plan in which other hosts compute by them
/// (DICE_CUDA=ELSEWHERE).
#ifdef DICE_WITH_CUDNN
template <class Backend> inline constexpr bool is_here = true;
#else
template <class Backend> inline constexpr bool is_here = !algorithm::is_cudnn(Backend::value);
#endif

/// Whether `Backend` can compute the fusion group of anchor `Op`, as far as is known here.
template <class Backend, class Op>
concept computes = !is_here<Backend> || has_kernel<Backend, Op>;

/// The functions by which `Backend` computes such an operator: overloads say where it takes others than the operator's own.
template <class Backend, class Op>
constexpr functions functions_for(Backend, const Op&, graph::shapes, const tensor::shape&) {
  using own = compiled<Backend, Op>;
  return {&own::run, &own::pack, &own::variant};
}

/// A layer computed alone by `Backend`, as `how` says; without functions if the backend is not here. `op` and `in` stay
/// where they are.
template <class Backend, class Op>
requires computes<Backend, Op>
constexpr entry entry_for(const Op& op, graph::shapes in, const tensor::shape& result, const algorithm::choice& how) {
  entry e{.what = {.op = &op, .inputs = in, .result = result, .how = how}};
  if constexpr (is_here<Backend>) {
    e.by = functions_for(Backend{}, op, in, result);
    e.variants = algorithm::variants<Backend::value>(op, in);
    if (how.packed_bytes == 0) e.by.pack = nullptr;
    if (e.variants == 1) e.by.variant = nullptr;
  }
  return e;
}

}  // namespace dice::kernels
