// Convolutions of the OpenMP backend with square windows for which Winograd's algorithm is implemented.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/conv.hpp"

namespace dice::kernels {

using enum openmp::direct_kind;

template struct compiled<openmp::backend, openmp::convolutions<blocked, 3, 3>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 5, 5>>;

}  // namespace dice::kernels
