// Convolutions by OpenMP with windows for which Winograd's algorithm has sizes, square ones.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/conv.hpp"

namespace dice::kernels {

using enum openmp::direct_kind;

template struct compiled<openmp::backend, openmp::convolutions<blocked, 3, 3>>;
template struct compiled<openmp::backend, openmp::convolutions<blocked, 5, 5>>;

}  // namespace dice::kernels
