// The kernels of the cuDNN backend, and how a GPU is opened.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/cudnn/antialiased_resize.hpp"
#include "dice/kernels/cudnn/average_pool.hpp"
#include "dice/kernels/cudnn/batch_normalization.hpp"
#include "dice/kernels/cudnn/binary.hpp"
#include "dice/kernels/cudnn/clip.hpp"
#include "dice/kernels/cudnn/concat.hpp"
#include "dice/kernels/cudnn/conv.hpp"
#include "dice/kernels/cudnn/cum_sum.hpp"
#include "dice/kernels/cudnn/depth_to_space.hpp"
#include "dice/kernels/cudnn/dropout.hpp"
#include "dice/kernels/cudnn/einsum.hpp"
#include "dice/kernels/cudnn/elementwise.hpp"
#include "dice/kernels/cudnn/elu.hpp"
#include "dice/kernels/cudnn/flatten.hpp"
#include "dice/kernels/cudnn/gather.hpp"
#include "dice/kernels/cudnn/gemm.hpp"
#include "dice/kernels/cudnn/global_average_pool.hpp"
#include "dice/kernels/cudnn/half_precision.hpp"
#include "dice/kernels/cudnn/hard_sigmoid.hpp"
#include "dice/kernels/cudnn/hard_swish.hpp"
#include "dice/kernels/cudnn/identity.hpp"
#include "dice/kernels/cudnn/leaky_relu.hpp"
#include "dice/kernels/cudnn/lrn.hpp"
#include "dice/kernels/cudnn/mat_mul.hpp"
#include "dice/kernels/cudnn/max_pool.hpp"
#include "dice/kernels/cudnn/normalization.hpp"
#include "dice/kernels/cudnn/open.ipp"
#include "dice/kernels/cudnn/pad.hpp"
#include "dice/kernels/cudnn/reduce.hpp"
#include "dice/kernels/cudnn/relu.hpp"
#include "dice/kernels/cudnn/reshape.hpp"
#include "dice/kernels/cudnn/resize.hpp"
#include "dice/kernels/cudnn/sigmoid.hpp"
#include "dice/kernels/cudnn/slice.hpp"
#include "dice/kernels/cudnn/softmax.hpp"
#include "dice/kernels/cudnn/sum.hpp"
#include "dice/kernels/cudnn/tanh.hpp"
#include "dice/kernels/cudnn/tile.hpp"
#include "dice/kernels/cudnn/transpose.hpp"

namespace dice::kernels {

template struct compiled<cudnn::backend, ops::add>;
template struct compiled<cudnn::backend, ops::antialiased_resize>;
template struct compiled<cudnn::backend, ops::average_pool>;
template struct compiled<cudnn::backend, ops::batch_normalization>;
template struct compiled<cudnn::backend, ops::clip>;
template struct compiled<cudnn::backend, ops::concat>;
template struct compiled<cudnn::backend, ops::conv>;
template struct compiled<cudnn::backend, ops::cum_sum>;
template struct compiled<cudnn::backend, ops::depth_to_space>;
template struct compiled<cudnn::backend, ops::div>;
template struct compiled<cudnn::backend, ops::dropout>;
template struct compiled<cudnn::backend, ops::einsum>;
template struct compiled<cudnn::backend, ops::elementwise>;
template struct compiled<cudnn::backend, ops::elu>;
template struct compiled<cudnn::backend, ops::flatten>;
template struct compiled<cudnn::backend, ops::gather>;
template struct compiled<cudnn::backend, ops::gemm>;
template struct compiled<cudnn::backend, ops::global_average_pool>;
template struct compiled<cudnn::backend, ops::hard_sigmoid>;
template struct compiled<cudnn::backend, ops::hard_swish>;
template struct compiled<cudnn::backend, ops::identity>;
template struct compiled<cudnn::backend, ops::leaky_relu>;
template struct compiled<cudnn::backend, ops::lrn>;
template struct compiled<cudnn::backend, ops::mat_mul>;
template struct compiled<cudnn::backend, ops::max>;
template struct compiled<cudnn::backend, ops::max_pool>;
template struct compiled<cudnn::backend, ops::min>;
template struct compiled<cudnn::backend, ops::mul>;
template struct compiled<cudnn::backend, ops::normalization>;
template struct compiled<cudnn::backend, ops::p_relu>;
template struct compiled<cudnn::backend, ops::pad>;
template struct compiled<cudnn::backend, ops::pow>;
template struct compiled<cudnn::backend, ops::reduce>;
template struct compiled<cudnn::backend, ops::relu>;
template struct compiled<cudnn::backend, ops::reshape>;
template struct compiled<cudnn::backend, ops::resize>;
template struct compiled<cudnn::backend, ops::sigmoid>;
template struct compiled<cudnn::backend, ops::slice>;
template struct compiled<cudnn::backend, ops::softmax>;
template struct compiled<cudnn::backend, ops::sub>;
template struct compiled<cudnn::backend, ops::sum>;
template struct compiled<cudnn::backend, ops::tanh>;
template struct compiled<cudnn::backend, ops::tile>;
template struct compiled<cudnn::backend, ops::transpose>;
template struct compiled<cudnn::backend, ops::where>;

template struct compiled<cudnn::fp16, ops::conv>;
template struct compiled<cudnn::fp16, ops::gemm>;
template struct compiled<cudnn::fp16, ops::mat_mul>;
template struct compiled<cudnn::bf16, ops::conv>;
template struct compiled<cudnn::bf16, ops::gemm>;
template struct compiled<cudnn::bf16, ops::mat_mul>;

}  // namespace dice::kernels
