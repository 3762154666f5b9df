#pragma once

#include "dice/kernels/cudnn/cuda.hpp"

namespace dice::kernels::gpu {

/// The least of several times that run() takes on the stream, in milliseconds, after one that does not count.
/// check(code, doing) throws where CUDA fails.
template <class Run, class Check> float fastest_of(int times, cudaStream_t on, const Run& run, const Check& check) {
  event begin, end;
  check(cudaEventCreate(begin.put()), "measure kernels");
  check(cudaEventCreate(end.put()), "measure kernels");
  float least = 0;
  for (int i = 0; i <= times; ++i) {
    check(cudaEventRecord(begin.get(), on), "measure kernels");
    run();
    check(cudaEventRecord(end.get(), on), "measure kernels");
    check(cudaEventSynchronize(end.get()), "compute");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "measure kernels");
    if (i == 1 || (i > 1 && ms < least)) least = ms;
  }
  return least;
}

}  // namespace dice::kernels::gpu
