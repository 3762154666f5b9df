// The kernels of the OpenMP backend except for convolutions and MatMul, and what the level is for which they are compiled.
#include "dice/kernels/openmp/openmp.hpp"
#include "dice/kernels/openmp/at_level.ipp"
#include "dice/kernels/openmp/convert.ipp"

namespace dice::kernels {

DICE_OPENMP_KERNELS

namespace openmp {

#if DICE_LEVELS > 1
template <> void at_level<DICE_LEVEL, conversion>::run(const conversion& what, const void* from, void* to) {
  convert_tensor(what, from, to);
}
#endif

template <> const cpu_level at_level<DICE_LEVEL>::about{DICE_LEVEL_NAME, this_host::compiled_for};

}  // namespace openmp
}  // namespace dice::kernels
