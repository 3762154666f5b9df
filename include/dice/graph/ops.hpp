/// Umbrella and list of all operators.
#pragma once

#include "dice/graph/ops/antialiased_resize.hpp"
#include "dice/graph/ops/average_pool.hpp"
#include "dice/graph/ops/batch_normalization.hpp"
#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/clip.hpp"
#include "dice/graph/ops/concat.hpp"
#include "dice/graph/ops/conv.hpp"
#include "dice/graph/ops/cum_sum.hpp"
#include "dice/graph/ops/depth_to_space.hpp"
#include "dice/graph/ops/dropout.hpp"
#include "dice/graph/ops/einsum.hpp"
#include "dice/graph/ops/elementwise.hpp"
#include "dice/graph/ops/elu.hpp"
#include "dice/graph/ops/flatten.hpp"
#include "dice/graph/ops/gather.hpp"
#include "dice/graph/ops/gemm.hpp"
#include "dice/graph/ops/global_average_pool.hpp"
#include "dice/graph/ops/hard_sigmoid.hpp"
#include "dice/graph/ops/hard_swish.hpp"
#include "dice/graph/ops/identity.hpp"
#include "dice/graph/ops/input.hpp"
#include "dice/graph/ops/leaky_relu.hpp"
#include "dice/graph/ops/lrn.hpp"
#include "dice/graph/ops/mat_mul.hpp"
#include "dice/graph/ops/max_pool.hpp"
#include "dice/graph/ops/normalization.hpp"
#include "dice/graph/ops/output.hpp"
#include "dice/graph/ops/pad.hpp"
#include "dice/graph/ops/reduce.hpp"
#include "dice/graph/ops/relu.hpp"
#include "dice/graph/ops/reshape.hpp"
#include "dice/graph/ops/resize.hpp"
#include "dice/graph/ops/sigmoid.hpp"
#include "dice/graph/ops/slice.hpp"
#include "dice/graph/ops/softmax.hpp"
#include "dice/graph/ops/sum.hpp"
#include "dice/graph/ops/tanh.hpp"
#include "dice/graph/ops/tile.hpp"
#include "dice/graph/ops/transpose.hpp"

// Each macro calls the macro X with the name of each of its operators.
// clang-format off
/// Those whose OpenMP kernels share a register tile: src/openmp_direct.cpp compiles them.
#define DICE_TILED_OPERATORS(X) X(conv) X(mat_mul)
/// All others that backends compute.
#define DICE_OTHER_OPERATORS(X) \
  X(add) X(antialiased_resize) X(average_pool) X(batch_normalization) X(clip) X(concat) X(cum_sum) X(depth_to_space) \
  X(div) X(dropout) X(einsum) X(elementwise) X(elu) X(flatten) X(gather) X(gemm) X(global_average_pool) \
  X(hard_sigmoid) X(hard_swish) X(identity) X(leaky_relu) X(lrn) X(max) X(max_pool) X(min) X(mul) X(normalization) \
  X(p_relu) X(pad) X(pow) X(reduce) X(relu) X(reshape) X(resize) X(sigmoid) X(slice) X(softmax) X(sub) X(sum) X(tanh) \
  X(tile) X(transpose) X(where)
// clang-format on
#define DICE_COMPUTED_OPERATORS(X) DICE_TILED_OPERATORS(X) DICE_OTHER_OPERATORS(X)
/// With the ends of the graph, which no backend computes.
#define DICE_OPERATORS(X) DICE_COMPUTED_OPERATORS(X) X(input) X(output)

namespace dice::ops {

/// Whether Op is one of DICE_COMPUTED_OPERATORS.
template <class Op> inline constexpr bool is_computed = false;
#define DICE_COMPUTES(name) template <> inline constexpr bool is_computed<name> = true;
DICE_COMPUTED_OPERATORS(DICE_COMPUTES)
#undef DICE_COMPUTES

}  // namespace dice::ops
