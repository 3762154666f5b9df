#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::elu> : plain::activation_kernel<ops::elu> {};

}  // namespace dice::kernels
