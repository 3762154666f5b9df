// Operators on inputs whose axes are in another order.
#pragma once

#include "graph/network.hpp"

#include "dice/graph/ops/transpose.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

namespace onnx2hpp {

/// An order of axes: axis a of a value is axis [a] of the tensor that holds it.
struct order {
  int rank = 0;
  std::array<int, dice::tensor::max_rank> axis = dice::ops::transpose{}.perm;

  order() = default;
  explicit order(int axes) : rank(axes) {
    for (int a = 0; a < rank; ++a) (*this)[a] = a;
  }
  order(const dice::ops::transpose& t, int axes) : order(axes) {
    for (int a = 0; a < rank; ++a) (*this)[a] = t.perm[a];
  }
  int& operator[](int a) { return axis[a]; }
  int operator[](int a) const { return axis[a]; }
  auto operator<=>(const order&) const = default;

  bool in_order() const { return *this == order(rank); }
  order inverse() const {
    order out(rank);
    for (int a = 0; a < rank; ++a) out[(*this)[a]] = a;
    return out;
  }
  /// Axis a is axis next[(*this)[a]].
  order then(const order& next) const {
    order out(rank);
    for (int a = 0; a < rank; ++a) out[a] = next[(*this)[a]];
    return out;
  }
  /// The value's shape from that of the tensor that holds it, and the other way round.
  shape of(const shape& held) const {
    shape out = held;
    for (int a = 0; a < rank; ++a) out[a] = held[(*this)[a]];
    return out;
  }
  shape stored(const shape& value) const { return inverse().of(value); }
  /// Whether a Transpose of a tensor of this shape moves any element.
  bool moves(const shape& held) const {
    int last = -1;
    for (int a = 0; a < rank; ++a)
      if (held[(*this)[a]] != 1) {
        if ((*this)[a] < last) return true;
        last = (*this)[a];
      }
    return false;
  }
};

struct permuted_layer {
  operation op;
  std::vector<parameter> parameters;
  order result;
};

/// Whether all operands of `op`, or its operand and a constant, must have the same order.
bool joins(const operation& op);

/// Layer l for inputs in the order `axes`, the first of which has the shape `held` (for operators that join: their result).
/// None if its operator cannot work on these.
std::optional<permuted_layer> permuted(const layer& l, const order& axes, const shape& held);

/// The order of `to`, made by a Reshape from a value of shape `from` in the order `axes`; none if elements must be moved.
std::optional<order> regroup(const shape& from, const shape& to, const order& axes);

}  // namespace onnx2hpp
