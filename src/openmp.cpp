// The kernels of the OpenMP backend except for convolutions and MatMul.
#include "dice/kernels/openmp/openmp.hpp"
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/convert.ipp"

namespace dice::kernels {

#define DICE_COMPILES(name) template struct compiled<openmp::backend, ops::name>;
DICE_OTHER_OPERATORS(DICE_COMPILES)

}  // namespace dice::kernels
