// The kernels of the cuDNN backend, and how a GPU is opened.
#include "dice/kernels/cudnn/cudnn.hpp"
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/cudnn/open.ipp"

namespace dice::kernels {

#define DICE_COMPILES(name) template struct compiled<cudnn::backend, ops::name>;
DICE_COMPUTED_OPERATORS(DICE_COMPILES)

}  // namespace dice::kernels
