#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/cost/convolution.hpp"
#include "dice/cost/winograd.hpp"
#include "dice/model/model.hpp"

namespace dice::cost {

/// How the OpenMP backend computes `op`: without packed weights and scratch where no overload says otherwise.
template <class Op> constexpr algorithm choose_openmp(const Op&, graph::shapes, const tensor::shape&) { return {}; }

constexpr algorithm choose_openmp(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  if (const auto w = winograd::best(op, in[0], result); w.pairs > 0)
    return {.packed_bytes = w.packed_bytes(), .scratch_bytes = w.scratch_bytes()};
  const convolution form(op, in[0], result);
  return {.packed_bytes = form.packed_bytes(), .scratch_bytes = form.scratch_bytes()};
}

}  // namespace dice::cost
