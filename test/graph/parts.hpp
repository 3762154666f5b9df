// Layers with their data, and the problems that parts of them are.
#pragma once

#include "kernels/harness.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace parts {

using namespace harness;
using tensor::region;

/// Elements of region `r` of a tensor of shape `s`.
inline std::vector<float> cut(const std::vector<float>& from, const shape& s, const region& r) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    bool inside = true;
    for (auto [a, rest] = std::pair{s.rank - 1, i}; a >= 0; rest /= s[a--])
      inside = inside && (a >= region::axes || (rest % s[a] >= r.begin[a] && rest % s[a] < r.end[a]));
    if (inside) out.push_back(from[i]);
  }
  return out;
}

/// An operator with its data, and the shapes of its parameters.
template <class Op> struct layer {
  problem<Op> whole;
  std::vector<shape> extents;
};
template <class Op> layer<Op> of(const Op& op, std::vector<shape> in, const std::vector<shape>& parameters = {}) {
  return {make(op, std::move(in), parameters), parameters};
}

/// The layer whose result is region `out` of the layer's result. Operands that it does not need are left out.
template <class Op> layer<Op> part_of(const layer<Op>& l, const region& out) {
  const auto& p = l.whole;
  const auto result = p.result();
  const graph::shapes in(p.in);
  layer<Op> part{make(graph::restrict(p.op, out, in, result), {}), {}};
  for (std::size_t k = 0; k < p.in.size(); ++k) {
    const auto needs = graph::input_region(p.op, static_cast<int>(k), out, in, result);
    if (tensor::empty(needs)) continue;
    part.whole.in.push_back(tensor::extents(needs, p.in[k]));
    part.whole.inputs.push_back(cut(p.inputs[k], p.in[k], needs));
  }
  for (std::size_t i = 0; i < p.parameters.size(); ++i) {
    const auto& s = l.extents[i];
    const auto needs = graph::parameter_region(p.op, static_cast<int>(i), out, in, result, s);
    part.extents.push_back(tensor::extents(needs, s));
    part.whole.parameters.push_back(cut(p.parameters[i], s, needs));
  }
  return part;
}

/// The partial sum of the layer over input channels [from, to).
template <class Op> layer<Op> partial_of(const layer<Op>& l, std::int64_t from, std::int64_t to, bool first) {
  const auto& p = l.whole;
  const graph::shapes in(p.in);
  layer<Op> part{make(graph::partial(p.op, from, to, first, in), {}), {}};
  const auto needs = graph::partial_region(p.op, from, to, in);
  part.whole.in.push_back(tensor::extents(needs, p.in[0]));
  part.whole.inputs.push_back(cut(p.inputs[0], p.in[0], needs));
  for (std::size_t i = 0; i < (first ? p.parameters.size() : 1); ++i) {
    const auto& s = l.extents[i];
    const auto has = graph::partial_parameter_region(p.op, static_cast<int>(i), from, to, in, s);
    part.extents.push_back(tensor::extents(has, s));
    part.whole.parameters.push_back(cut(p.parameters[i], s, has));
  }
  return part;
}

}  // namespace parts
