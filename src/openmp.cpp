// The kernels of the OpenMP backend except for convolutions and MatMul.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/antialiased_resize.hpp"
#include "dice/kernels/openmp/average_pool.hpp"
#include "dice/kernels/openmp/batch_normalization.hpp"
#include "dice/kernels/openmp/binary.hpp"
#include "dice/kernels/openmp/clip.hpp"
#include "dice/kernels/openmp/concat.hpp"
#include "dice/kernels/openmp/cum_sum.hpp"
#include "dice/kernels/openmp/depth_to_space.hpp"
#include "dice/kernels/openmp/dropout.hpp"
#include "dice/kernels/openmp/einsum.hpp"
#include "dice/kernels/openmp/elementwise.hpp"
#include "dice/kernels/openmp/elu.hpp"
#include "dice/kernels/openmp/flatten.hpp"
#include "dice/kernels/openmp/gather.hpp"
#include "dice/kernels/openmp/gemm.hpp"
#include "dice/kernels/openmp/global_average_pool.hpp"
#include "dice/kernels/openmp/hard_sigmoid.hpp"
#include "dice/kernels/openmp/hard_swish.hpp"
#include "dice/kernels/openmp/identity.hpp"
#include "dice/kernels/openmp/leaky_relu.hpp"
#include "dice/kernels/openmp/lrn.hpp"
#include "dice/kernels/openmp/max_pool.hpp"
#include "dice/kernels/openmp/normalization.hpp"
#include "dice/kernels/openmp/pad.hpp"
#include "dice/kernels/openmp/reduce.hpp"
#include "dice/kernels/openmp/relu.hpp"
#include "dice/kernels/openmp/reshape.hpp"
#include "dice/kernels/openmp/resize.hpp"
#include "dice/kernels/openmp/sigmoid.hpp"
#include "dice/kernels/openmp/slice.hpp"
#include "dice/kernels/openmp/softmax.hpp"
#include "dice/kernels/openmp/sum.hpp"
#include "dice/kernels/openmp/tanh.hpp"
#include "dice/kernels/openmp/tile.hpp"
#include "dice/kernels/openmp/transpose.hpp"

namespace dice::kernels {

template struct compiled<openmp::backend, ops::add>;
template struct compiled<openmp::backend, ops::antialiased_resize>;
template struct compiled<openmp::backend, ops::average_pool>;
template struct compiled<openmp::backend, ops::batch_normalization>;
template struct compiled<openmp::backend, ops::clip>;
template struct compiled<openmp::backend, ops::concat>;
template struct compiled<openmp::backend, ops::cum_sum>;
template struct compiled<openmp::backend, ops::depth_to_space>;
template struct compiled<openmp::backend, ops::div>;
template struct compiled<openmp::backend, ops::dropout>;
template struct compiled<openmp::backend, ops::einsum>;
template struct compiled<openmp::backend, ops::elementwise>;
template struct compiled<openmp::backend, ops::elu>;
template struct compiled<openmp::backend, ops::flatten>;
template struct compiled<openmp::backend, ops::gather>;
template struct compiled<openmp::backend, ops::gemm>;
template struct compiled<openmp::backend, ops::global_average_pool>;
template struct compiled<openmp::backend, ops::hard_sigmoid>;
template struct compiled<openmp::backend, ops::hard_swish>;
template struct compiled<openmp::backend, ops::identity>;
template struct compiled<openmp::backend, ops::leaky_relu>;
template struct compiled<openmp::backend, ops::lrn>;
template struct compiled<openmp::backend, ops::max>;
template struct compiled<openmp::backend, ops::max_pool>;
template struct compiled<openmp::backend, ops::min>;
template struct compiled<openmp::backend, ops::mul>;
template struct compiled<openmp::backend, ops::normalization>;
template struct compiled<openmp::backend, ops::p_relu>;
template struct compiled<openmp::backend, ops::pad>;
template struct compiled<openmp::backend, ops::pow>;
template struct compiled<openmp::backend, ops::reduce>;
template struct compiled<openmp::backend, ops::relu>;
template struct compiled<openmp::backend, ops::reshape>;
template struct compiled<openmp::backend, ops::resize>;
template struct compiled<openmp::backend, ops::sigmoid>;
template struct compiled<openmp::backend, ops::slice>;
template struct compiled<openmp::backend, ops::softmax>;
template struct compiled<openmp::backend, ops::sub>;
template struct compiled<openmp::backend, ops::sum>;
template struct compiled<openmp::backend, ops::tanh>;
template struct compiled<openmp::backend, ops::tile>;
template struct compiled<openmp::backend, ops::transpose>;
template struct compiled<openmp::backend, ops::where>;

}  // namespace dice::kernels
