#pragma once

#include "dice/kernels/cudnn/cuda.hpp"
#include "dice/kernels/cudnn/detail/choices.hpp"

#include <string>

namespace dice::kernels::cudnn {

/// A GPU on which kernels are recorded: what they have to know of it.
struct setting {
  int gpu = 0;            ///< its number
  std::string name;       ///< "NVIDIA H100 80GB HBM3"
  cudaStream_t stream{};  ///< on which kernels are enqueued
  choices chosen;         ///< what was measured before
  std::string turn;       ///< the file that is locked while kernels are measured, by all who use this GPU
  bool tf32 = false;      ///< float32 may be rounded to TF32, eight bits of exponent and ten of fraction
  bool awake = false;     ///< its clocks are up

  void check(cudaError_t code, const char* doing) const { cudnn::check(code, gpu, doing); }
  /// After an error of one way to compute: throws if the GPU does nothing more.
  void go_on() const {
    cudaGetLastError();
    check(cudaStreamSynchronize(stream), "compute");
  }
};

}  // namespace dice::kernels::cudnn
