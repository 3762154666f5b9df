#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/cost/convolution.hpp"
#include "dice/cost/forms.hpp"
#include "dice/cost/winograd.hpp"
#include "dice/model/model.hpp"

namespace dice::cost {

/// Most operands that a kernel converts: it keeps their places in an array.
inline constexpr std::size_t most_converted = 64;

/// How the OpenMP backend computes `op`: without packed weights and scratch where no overload says otherwise.
template <class Op> constexpr algorithm choose_openmp(const Op& op, graph::shapes in, const tensor::shape& result) {
  if (in.size() > most_converted) return {};
  return {.works = form_of(op, in, result), .converts = true};
}

constexpr algorithm choose_openmp(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  if (const auto w = winograd::best(op, in[0], result); w.pairs > 0)
    return {.packed_bytes = w.packed_bytes(),
            .scratch_bytes = w.scratch_bytes(),
            .works = form::blocked,
            .converts = true,
            .variant = w.pairs};
  const convolution direct(op, in[0], result);
  return {.packed_bytes = direct.packed_bytes(),
          .scratch_bytes = direct.scratch_bytes(),
          .works = direct.plain ? form::first : form::blocked,
          .converts = true};
}

}  // namespace dice::cost
