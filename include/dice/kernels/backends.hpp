// The backends: what each computes, and with DICE_HEADER_ONLY its kernels, if they are built in.
#pragma once

#include "dice/kernels/cudnn/open.hpp"
#include "dice/kernels/cudnn/operators.hpp"
#include "dice/kernels/openmp/convert.hpp"
#include "dice/kernels/openmp/convolutions.hpp"
#include "dice/kernels/openmp/operators.hpp"
#include "dice/kernels/reference/operators.hpp"

#ifdef DICE_HEADER_ONLY
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/reference/reference.hpp"
#ifdef DICE_WITH_OPENMP
#include "dice/kernels/openmp/openmp.hpp"
#endif
#ifdef DICE_WITH_CUDNN
#include "dice/kernels/cudnn/cudnn.hpp"
#endif
#endif
