// Convolutions of the OpenMP backend with square windows for which Winograd's algorithm is implemented.
#include "dice/kernels/openmp/at_level.ipp"
#include "dice/kernels/openmp/conv.hpp"

namespace dice::kernels {

DICE_OPENMP_WINOGRAD_KERNELS

}  // namespace dice::kernels
