#pragma once

#include "dice/kernels/cudnn/cuda.hpp"
#include "dice/kernels/cudnn/detail/choices.hpp"

#include <string>

namespace dice::kernels::cudnn {

/// What kernels have to know about the GPU on which they are recorded.
struct setting {
  int gpu = 0;            ///< its number
  std::string name;       ///< "NVIDIA H100 80GB HBM3"
  cudaStream_t stream{};  ///< on which kernels are enqueued
  choices chosen;         ///< what was measured before
  std::string turn;       ///< the lock that all users of this GPU hold while they measure kernels
  bool tf32 = false;      ///< float32 may be rounded to TF32, eight bits of exponent and ten of fraction
  bool direct = false;    ///< convolutions only by sums of products
  bool awake = false;     ///< its clocks are up

  void check(cudaError_t code, const char* doing) const { cudnn::check(code, gpu, doing); }
  /// After one way to compute has failed: throws if the GPU no longer works.
  void go_on() const {
    cudaGetLastError();
    check(cudaStreamSynchronize(stream), "compute");
  }
};

}  // namespace dice::kernels::cudnn
