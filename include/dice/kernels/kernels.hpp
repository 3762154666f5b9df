/// Umbrella of the room `kernels`: the reference always, the other backends where their targets are linked.
#pragma once

#include "dice/kernels/compiled.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/kernels/reference/reference.hpp"
#include "dice/kernels/table.hpp"

#ifdef DICE_WITH_OPENMP
#include "dice/kernels/openmp/openmp.hpp"
#endif
#ifdef DICE_WITH_CUDNN
#include "dice/kernels/cudnn/cudnn.hpp"
#endif
