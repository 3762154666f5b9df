// The kernels of the cuDNN backend, and how a GPU is opened.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/cudnn/add.hpp"
#include "dice/kernels/cudnn/average_pool.hpp"
#include "dice/kernels/cudnn/batch_normalization.hpp"
#include "dice/kernels/cudnn/clip.hpp"
#include "dice/kernels/cudnn/concat.hpp"
#include "dice/kernels/cudnn/conv.hpp"
#include "dice/kernels/cudnn/div.hpp"
#include "dice/kernels/cudnn/dropout.hpp"
#include "dice/kernels/cudnn/elu.hpp"
#include "dice/kernels/cudnn/flatten.hpp"
#include "dice/kernels/cudnn/gemm.hpp"
#include "dice/kernels/cudnn/global_average_pool.hpp"
#include "dice/kernels/cudnn/hard_sigmoid.hpp"
#include "dice/kernels/cudnn/hard_swish.hpp"
#include "dice/kernels/cudnn/identity.hpp"
#include "dice/kernels/cudnn/leaky_relu.hpp"
#include "dice/kernels/cudnn/lrn.hpp"
#include "dice/kernels/cudnn/mat_mul.hpp"
#include "dice/kernels/cudnn/max_pool.hpp"
#include "dice/kernels/cudnn/mul.hpp"
#include "dice/kernels/cudnn/pad.hpp"
#include "dice/kernels/cudnn/reduce_mean.hpp"
#include "dice/kernels/cudnn/relu.hpp"
#include "dice/kernels/cudnn/reshape.hpp"
#include "dice/kernels/cudnn/resize.hpp"
#include "dice/kernels/cudnn/sigmoid.hpp"
#include "dice/kernels/cudnn/slice.hpp"
#include "dice/kernels/cudnn/softmax.hpp"
#include "dice/kernels/cudnn/sub.hpp"
#include "dice/kernels/cudnn/sum.hpp"
#include "dice/kernels/cudnn/tanh.hpp"
#include "dice/kernels/cudnn/transpose.hpp"
#include "dice/kernels/cudnn/halves.hpp"
#include "dice/kernels/cudnn/open.ipp"

namespace dice::kernels {

template struct compiled<cudnn, ops::add>;
template struct compiled<cudnn, ops::average_pool>;
template struct compiled<cudnn, ops::batch_normalization>;
template struct compiled<cudnn, ops::clip>;
template struct compiled<cudnn, ops::concat>;
template struct compiled<cudnn, ops::conv>;
template struct compiled<cudnn, ops::div>;
template struct compiled<cudnn, ops::dropout>;
template struct compiled<cudnn, ops::elu>;
template struct compiled<cudnn, ops::flatten>;
template struct compiled<cudnn, ops::gemm>;
template struct compiled<cudnn, ops::global_average_pool>;
template struct compiled<cudnn, ops::hard_sigmoid>;
template struct compiled<cudnn, ops::hard_swish>;
template struct compiled<cudnn, ops::identity>;
template struct compiled<cudnn, ops::leaky_relu>;
template struct compiled<cudnn, ops::lrn>;
template struct compiled<cudnn, ops::mat_mul>;
template struct compiled<cudnn, ops::max_pool>;
template struct compiled<cudnn, ops::mul>;
template struct compiled<cudnn, ops::pad>;
template struct compiled<cudnn, ops::reduce_mean>;
template struct compiled<cudnn, ops::relu>;
template struct compiled<cudnn, ops::reshape>;
template struct compiled<cudnn, ops::resize>;
template struct compiled<cudnn, ops::sigmoid>;
template struct compiled<cudnn, ops::slice>;
template struct compiled<cudnn, ops::softmax>;
template struct compiled<cudnn, ops::sub>;
template struct compiled<cudnn, ops::sum>;
template struct compiled<cudnn, ops::tanh>;
template struct compiled<cudnn, ops::transpose>;

template struct compiled<cudnn_fp16, ops::conv>;
template struct compiled<cudnn_fp16, ops::gemm>;
template struct compiled<cudnn_fp16, ops::mat_mul>;
template struct compiled<cudnn_bf16, ops::conv>;
template struct compiled<cudnn_bf16, ops::gemm>;
template struct compiled<cudnn_bf16, ops::mat_mul>;

}  // namespace dice::kernels
