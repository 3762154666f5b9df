// Direct convolutions of the OpenMP backend, and products of matrices, which share their register tile.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/conv.hpp"
#include "dice/kernels/openmp/mat_mul.hpp"

namespace dice::kernels {

using enum openmp::direct_kind;

template struct compiled<openmp::backend, openmp::convolutions<plain, 0, 0>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 0, 0>>;
template struct compiled<openmp::backend, openmp::convolutions<depthwise, 0, 0>>;
template struct compiled<openmp::backend, ops::mat_mul>;
template algorithm::choice compiled<openmp::backend, ops::conv>::variant(const task&, int);

}  // namespace dice::kernels
