#pragma once

#include "dice/kernels/cudnn/cuda.hpp"
#include "dice/kernels/cudnn/detail/choices.hpp"

#include <string>

namespace dice::kernels::gpu {

/// A GPU on which kernels are recorded: what they have to know of it.
struct setting {
  int gpu = 0;                ///< its number
  std::string name;           ///< "NVIDIA H100 80GB HBM3"
  cudaStream_t stream{};      ///< on which kernels are enqueued
  choices chosen;             ///< what was measured before
  bool tensor_cores = false;  ///< float32 may be rounded to TF32, eight bits of exponent and ten of fraction

  void check(cudaError_t code, const char* doing) const { gpu::check(code, gpu, doing); }
};

}  // namespace dice::kernels::gpu
