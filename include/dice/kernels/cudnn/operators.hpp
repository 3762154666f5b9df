// The operators that the backend computes.
#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/meta/type_list.hpp"

namespace dice::kernels {

namespace cudnn {
using backend = tag<algorithm::backend::cudnn>;
using fp16 = tag<algorithm::backend::cudnn_fp16>;
using bf16 = tag<algorithm::backend::cudnn_bf16>;
}  // namespace cudnn

/// The backends of this folder.
template <class Backend>
concept cudnn_backend = algorithm::processor_of(Backend::value)
== platform::processor::gpu;

#ifndef DICE_WITH_CUDNN
template <cudnn_backend Backend> inline constexpr bool is_here<Backend> = false;
#endif

template <class Op> inline constexpr bool has_kernel<cudnn::backend, Op> = ops::is_computed<Op>;

/// The operators that precision<fp16> and precision<bf16> compute in 16-bit numbers; all others stay in float32.
using cudnn_half_operators = meta::type_list<ops::conv, ops::gemm, ops::mat_mul>;

template <class Op> inline constexpr bool has_kernel<cudnn::fp16, Op> = has_kernel<cudnn::backend, Op>;
template <class Op> inline constexpr bool has_kernel<cudnn::bf16, Op> = has_kernel<cudnn::backend, Op>;

template <class Op>
requires(!meta::contains<cudnn_half_operators, Op>) constexpr functions
    functions_for(cudnn::fp16, const Op& op, graph::shapes in, const tensor::shape& result) {
  return functions_for(cudnn::backend{}, op, in, result);
}
template <class Op>
requires(!meta::contains<cudnn_half_operators, Op>) constexpr functions
    functions_for(cudnn::bf16, const Op& op, graph::shapes in, const tensor::shape& result) {
  return functions_for(cudnn::backend{}, op, in, result);
}

}  // namespace dice::kernels
