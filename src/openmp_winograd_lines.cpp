// Convolutions of the OpenMP backend with windows of one row or column for which Winograd's algorithm is implemented.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/conv.hpp"

namespace dice::kernels {

using enum openmp::direct_kind;

template struct compiled<openmp::backend, openmp::convolutions<blocked, 1, 3>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 3, 1>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 1, 7>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 7, 1>>;

}  // namespace dice::kernels
