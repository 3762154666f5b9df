#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/model/model.hpp"

namespace dice::cost {

/// How the reference backend computes `op`: on the plain weights, without scratch.
template <class Op> constexpr algorithm choose_reference(const Op&, graph::shapes, const tensor::shape&) { return {}; }

}  // namespace dice::cost
