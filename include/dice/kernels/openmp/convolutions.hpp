// The kinds into which the OpenMP backend divides convolutions, each a kernel of its own: a program contains those that its
// layers need, and with --tune or other mappings all that a layer can have.
#pragma once

#include "dice/algorithm/convolution.hpp"
#include "dice/algorithm/winograd.hpp"
#include "dice/graph/ops/conv.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/operators.hpp"

#include <array>
#include <concepts>

namespace dice::kernels {
namespace openmp {

/// How a direct convolution reads its input: planes, blocks of channels, or each block by itself.
enum class direct_kind : unsigned char { plain, blocked, depthwise };
constexpr direct_kind kind_of(const algorithm::convolution& f) {
  return f.depthwise ? direct_kind::depthwise : f.plain ? direct_kind::plain : direct_kind::blocked;
}

/// Stands for ops::conv of one kind. Height × Width is the window if Winograd's algorithm has sizes for it, else 0 × 0.
template <direct_kind Kind, int Height, int Width> struct convolutions {};

}  // namespace openmp

/// The functions of this convolution's kind. A template, so that programs without OpenMP refer to none of them.
template <std::same_as<openmp::backend> Backend>
constexpr functions functions_for(Backend, const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  using namespace openmp;
  using enum direct_kind;
  const auto of = []<class Kind>(Kind) {
    return functions{&compiled<Backend, Kind>::run, &compiled<Backend, Kind>::pack, &compiled<Backend, ops::conv>::variant};
  };
  const auto kind = kind_of({op, in[0], result});
  if (kind == plain) return of(convolutions<plain, 0, 0>{});
  if (kind == depthwise) return of(convolutions<depthwise, 0, 0>{});
  if (algorithm::winograd::possible_sizes(op, in[0]) > 0) {
    const auto is = [&](int rows, int columns) { return op.kernel == std::array{rows, columns}; };
    if (is(3, 3)) return of(convolutions<blocked, 3, 3>{});
    if (is(5, 5)) return of(convolutions<blocked, 5, 5>{});
    if (is(1, 7)) return of(convolutions<blocked, 1, 7>{});
    if (is(7, 1)) return of(convolutions<blocked, 7, 1>{});
    if (is(1, 3)) return of(convolutions<blocked, 1, 3>{});
    if (is(3, 1)) return of(convolutions<blocked, 3, 1>{});
  }
  return of(convolutions<blocked, 0, 0>{});
}

}  // namespace dice::kernels
