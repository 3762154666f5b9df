#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/platform/unit.hpp"

namespace dice::algorithm {

/// The backend that computes for a unit in this build: OpenMP where it is built in, else the reference kernels; cuDNN for
/// GPUs.
constexpr backend backend_of(const platform::unit& u) {
  if (u.on() == platform::processor::gpu) {
    if (u.precision == platform::numbers::fp16) return backend::cudnn_fp16;
    return u.precision == platform::numbers::bf16 ? backend::cudnn_bf16 : backend::cudnn;
  }
#ifdef DICE_WITH_OPENMP
  return backend::openmp;
#else
  return backend::reference;
#endif
}

}  // namespace dice::algorithm
