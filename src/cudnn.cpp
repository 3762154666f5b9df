// The kernels of the cuDNN backend, and how a GPU is opened.
#include "dice/kernels/cudnn/cudnn.hpp"
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/cudnn/open.ipp"

namespace dice::kernels {

#define DICE_COMPILES(name) template struct compiled<cudnn::backend, ops::name>;
DICE_COMPUTED_OPERATORS(DICE_COMPILES)

template struct compiled<cudnn::fp16, ops::conv>;
template struct compiled<cudnn::fp16, ops::gemm>;
template struct compiled<cudnn::fp16, ops::mat_mul>;
template struct compiled<cudnn::bf16, ops::conv>;
template struct compiled<cudnn::bf16, ops::gemm>;
template struct compiled<cudnn::bf16, ops::mat_mul>;

}  // namespace dice::kernels
