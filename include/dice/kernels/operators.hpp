/// What each backend computes, without the kernels.
#pragma once

#include "dice/kernels/cudnn/operators.hpp"
#include "dice/kernels/openmp/operators.hpp"
#include "dice/kernels/reference/operators.hpp"
