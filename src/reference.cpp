// The kernels of the reference backend.
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/reference/antialiased_resize.hpp"
#include "dice/kernels/reference/average_pool.hpp"
#include "dice/kernels/reference/batch_normalization.hpp"
#include "dice/kernels/reference/binary.hpp"
#include "dice/kernels/reference/clip.hpp"
#include "dice/kernels/reference/concat.hpp"
#include "dice/kernels/reference/conv.hpp"
#include "dice/kernels/reference/cum_sum.hpp"
#include "dice/kernels/reference/depth_to_space.hpp"
#include "dice/kernels/reference/dropout.hpp"
#include "dice/kernels/reference/einsum.hpp"
#include "dice/kernels/reference/elementwise.hpp"
#include "dice/kernels/reference/elu.hpp"
#include "dice/kernels/reference/flatten.hpp"
#include "dice/kernels/reference/gather.hpp"
#include "dice/kernels/reference/gemm.hpp"
#include "dice/kernels/reference/global_average_pool.hpp"
#include "dice/kernels/reference/hard_sigmoid.hpp"
#include "dice/kernels/reference/hard_swish.hpp"
#include "dice/kernels/reference/identity.hpp"
#include "dice/kernels/reference/leaky_relu.hpp"
#include "dice/kernels/reference/lrn.hpp"
#include "dice/kernels/reference/mat_mul.hpp"
#include "dice/kernels/reference/max_pool.hpp"
#include "dice/kernels/reference/normalization.hpp"
#include "dice/kernels/reference/pad.hpp"
#include "dice/kernels/reference/reduce.hpp"
#include "dice/kernels/reference/relu.hpp"
#include "dice/kernels/reference/reshape.hpp"
#include "dice/kernels/reference/resize.hpp"
#include "dice/kernels/reference/sigmoid.hpp"
#include "dice/kernels/reference/slice.hpp"
#include "dice/kernels/reference/softmax.hpp"
#include "dice/kernels/reference/sum.hpp"
#include "dice/kernels/reference/tanh.hpp"
#include "dice/kernels/reference/tile.hpp"
#include "dice/kernels/reference/transpose.hpp"

namespace dice::kernels {

template struct compiled<reference::backend, ops::add>;
template struct compiled<reference::backend, ops::antialiased_resize>;
template struct compiled<reference::backend, ops::average_pool>;
template struct compiled<reference::backend, ops::batch_normalization>;
template struct compiled<reference::backend, ops::clip>;
template struct compiled<reference::backend, ops::concat>;
template struct compiled<reference::backend, ops::conv>;
template struct compiled<reference::backend, ops::cum_sum>;
template struct compiled<reference::backend, ops::depth_to_space>;
template struct compiled<reference::backend, ops::div>;
template struct compiled<reference::backend, ops::dropout>;
template struct compiled<reference::backend, ops::einsum>;
template struct compiled<reference::backend, ops::elementwise>;
template struct compiled<reference::backend, ops::elu>;
template struct compiled<reference::backend, ops::flatten>;
template struct compiled<reference::backend, ops::gather>;
template struct compiled<reference::backend, ops::gemm>;
template struct compiled<reference::backend, ops::global_average_pool>;
template struct compiled<reference::backend, ops::hard_sigmoid>;
template struct compiled<reference::backend, ops::hard_swish>;
template struct compiled<reference::backend, ops::identity>;
template struct compiled<reference::backend, ops::leaky_relu>;
template struct compiled<reference::backend, ops::lrn>;
template struct compiled<reference::backend, ops::mat_mul>;
template struct compiled<reference::backend, ops::max>;
template struct compiled<reference::backend, ops::max_pool>;
template struct compiled<reference::backend, ops::min>;
template struct compiled<reference::backend, ops::mul>;
template struct compiled<reference::backend, ops::normalization>;
template struct compiled<reference::backend, ops::p_relu>;
template struct compiled<reference::backend, ops::pad>;
template struct compiled<reference::backend, ops::pow>;
template struct compiled<reference::backend, ops::reduce>;
template struct compiled<reference::backend, ops::relu>;
template struct compiled<reference::backend, ops::reshape>;
template struct compiled<reference::backend, ops::resize>;
template struct compiled<reference::backend, ops::sigmoid>;
template struct compiled<reference::backend, ops::slice>;
template struct compiled<reference::backend, ops::softmax>;
template struct compiled<reference::backend, ops::sub>;
template struct compiled<reference::backend, ops::sum>;
template struct compiled<reference::backend, ops::tanh>;
template struct compiled<reference::backend, ops::tile>;
template struct compiled<reference::backend, ops::transpose>;
template struct compiled<reference::backend, ops::where>;

}  // namespace dice::kernels
