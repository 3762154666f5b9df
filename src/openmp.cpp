// The kernels of the OpenMP backend but for convolutions.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/add.hpp"
#include "dice/kernels/openmp/average_pool.hpp"
#include "dice/kernels/openmp/batch_normalization.hpp"
#include "dice/kernels/openmp/clip.hpp"
#include "dice/kernels/openmp/concat.hpp"
#include "dice/kernels/openmp/div.hpp"
#include "dice/kernels/openmp/dropout.hpp"
#include "dice/kernels/openmp/elu.hpp"
#include "dice/kernels/openmp/flatten.hpp"
#include "dice/kernels/openmp/gemm.hpp"
#include "dice/kernels/openmp/global_average_pool.hpp"
#include "dice/kernels/openmp/hard_sigmoid.hpp"
#include "dice/kernels/openmp/hard_swish.hpp"
#include "dice/kernels/openmp/identity.hpp"
#include "dice/kernels/openmp/leaky_relu.hpp"
#include "dice/kernels/openmp/lrn.hpp"
#include "dice/kernels/openmp/mat_mul.hpp"
#include "dice/kernels/openmp/max_pool.hpp"
#include "dice/kernels/openmp/mul.hpp"
#include "dice/kernels/openmp/pad.hpp"
#include "dice/kernels/openmp/reduce_mean.hpp"
#include "dice/kernels/openmp/relu.hpp"
#include "dice/kernels/openmp/reshape.hpp"
#include "dice/kernels/openmp/resize.hpp"
#include "dice/kernels/openmp/sigmoid.hpp"
#include "dice/kernels/openmp/slice.hpp"
#include "dice/kernels/openmp/softmax.hpp"
#include "dice/kernels/openmp/sub.hpp"
#include "dice/kernels/openmp/sum.hpp"
#include "dice/kernels/openmp/tanh.hpp"
#include "dice/kernels/openmp/transpose.hpp"

namespace dice::kernels {

template struct compiled<openmp, ops::add>;
template struct compiled<openmp, ops::average_pool>;
template struct compiled<openmp, ops::batch_normalization>;
template struct compiled<openmp, ops::clip>;
template struct compiled<openmp, ops::concat>;
template struct compiled<openmp, ops::div>;
template struct compiled<openmp, ops::dropout>;
template struct compiled<openmp, ops::elu>;
template struct compiled<openmp, ops::flatten>;
template struct compiled<openmp, ops::gemm>;
template struct compiled<openmp, ops::global_average_pool>;
template struct compiled<openmp, ops::hard_sigmoid>;
template struct compiled<openmp, ops::hard_swish>;
template struct compiled<openmp, ops::identity>;
template struct compiled<openmp, ops::leaky_relu>;
template struct compiled<openmp, ops::lrn>;
template struct compiled<openmp, ops::mat_mul>;
template struct compiled<openmp, ops::max_pool>;
template struct compiled<openmp, ops::mul>;
template struct compiled<openmp, ops::pad>;
template struct compiled<openmp, ops::reduce_mean>;
template struct compiled<openmp, ops::relu>;
template struct compiled<openmp, ops::reshape>;
template struct compiled<openmp, ops::resize>;
template struct compiled<openmp, ops::sigmoid>;
template struct compiled<openmp, ops::slice>;
template struct compiled<openmp, ops::softmax>;
template struct compiled<openmp, ops::sub>;
template struct compiled<openmp, ops::sum>;
template struct compiled<openmp, ops::tanh>;
template struct compiled<openmp, ops::transpose>;

}  // namespace dice::kernels
