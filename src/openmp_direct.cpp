// Direct convolutions by OpenMP.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/conv.hpp"

namespace dice::kernels {

using enum host::direct_kind;

template struct compiled<openmp, host::convolutions<plain, 0, 0>>;
template struct compiled<openmp, host::convolutions<blocked, 0, 0>>;
template struct compiled<openmp, host::convolutions<depthwise, 0, 0>>;
template cost::algorithm compiled<openmp, ops::conv>::variant(const task&, int);

}  // namespace dice::kernels
