#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/graph.hpp"

namespace dice::algorithm {

/// How backend B computes operators: with one algorithm, on the plain weights, without scratch. Other backends have a
/// specialisation in the header of their folder of kernels (algorithm/openmp.hpp, algorithm/cudnn.hpp), which may also have
///   int variants(op, in)                       how many ways there are, 0 … n - 1, of which 0 has the smallest weights, and
///                                              computes convolutions directly
///   choice variant(op, in, result, number)     one of them
///   choice smallest(op, in, result, numbers)   for devices with little memory; without, variant 0
///   bool tunes                                 true: --tune chooses among the variants
template <backend B> struct chooser {
  template <class Op> static constexpr choice choose(const Op&, graph::shapes, const tensor::shape&, platform::numbers) {
    return {};
  }
};

}  // namespace dice::algorithm
