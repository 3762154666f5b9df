// Which functions compute a layer: known without compiling the kernels.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/kernels/backends.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

/// Whether `Backend` can compute the fusion group of anchor `Op`; true if this program does not have `Backend`.
template <class Backend, class Op>
concept computes = !is_here<Backend> || has_kernel<Backend, Op>;

/// The functions with which `Backend` computes such an operator. Overloads select other functions than the operator's own.
template <class Backend, class Op>
constexpr functions functions_for(Backend, const Op&, graph::shapes, const tensor::shape&) {
  using own = compiled<Backend, Op>;
  return {&own::run, &own::pack, &own::variant};
}

/// An unfused layer computed by `Backend`, as `how` says; without functions if this program does not have the backend. `op`
/// and `in` must outlive it.
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
