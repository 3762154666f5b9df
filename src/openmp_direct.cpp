// Direct convolutions of the OpenMP backend, and products of matrices, which share their register tile.
#include "dice/kernels/openmp/at_level.ipp"
#include "dice/kernels/openmp/conv.hpp"
#include "dice/kernels/openmp/mat_mul.hpp"

namespace dice::kernels {

DICE_OPENMP_DIRECT_KERNELS

#if DICE_LEVEL == 0
template algorithm::choice compiled<openmp::backend, ops::conv>::variant(const task&, int);
#endif

}  // namespace dice::kernels
