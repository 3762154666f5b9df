// The operators that the backend computes.
#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/meta/type_list.hpp"

namespace dice::kernels {

namespace openmp {
using backend = tag<algorithm::backend::openmp>;
}

using openmp_operators =
    meta::type_list<ops::add, ops::antialiased_resize, ops::average_pool, ops::batch_normalization, ops::clip, ops::concat,
                    ops::conv, ops::cum_sum, ops::depth_to_space, ops::div, ops::dropout, ops::einsum, ops::elementwise,
                    ops::elu, ops::flatten, ops::gather, ops::gemm, ops::global_average_pool, ops::hard_sigmoid,
                    ops::hard_swish, ops::identity, ops::leaky_relu, ops::lrn, ops::mat_mul, ops::max, ops::max_pool,
                    ops::min, ops::mul, ops::normalization, ops::p_relu, ops::pad, ops::pow, ops::reduce, ops::relu,
                    ops::reshape, ops::resize, ops::sigmoid, ops::slice, ops::softmax, ops::sub, ops::sum, ops::tanh,
                    ops::tile, ops::transpose, ops::where>;

template <class Op>
requires meta::contains<openmp_operators, Op>
inline constexpr bool has_kernel<openmp::backend, Op> = true;

}  // namespace dice::kernels
