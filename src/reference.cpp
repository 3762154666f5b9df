// The kernels of the reference backend.
#include "dice/kernels/reference/reference.hpp"
#include "dice/kernels/compiled.hpp"

namespace dice::kernels {

#define DICE_COMPILES(name) template struct compiled<reference::backend, ops::name>;
DICE_COMPUTED_OPERATORS(DICE_COMPILES)

}  // namespace dice::kernels
