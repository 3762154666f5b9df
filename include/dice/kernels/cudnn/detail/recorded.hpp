#pragma once

#include "dice/kernels/cudnn/detail/setting.hpp"

#include <exception>
#include <mutex>

namespace dice::kernels::cudnn {

/// Held while a thread records kernels, or makes or destroys objects for which CUDA waits for the whole GPU: that would
/// break another thread's recording, and ranks may be threads. Never destroyed: a GPU may be used until the program ends.
inline std::recursive_mutex& alone() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

/// What body() enqueues, `times` times, as a graph that can be launched. body must have run before: what is loaded at first
/// use would break the recording. Throws std::runtime_error.
template <class Body> executable recorded(const setting& on, int times, const Body& body) {
  const std::lock_guard held(alone());
  captured_graph made;
  for (int tries = 3;; --tries) {
    on.check(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeThreadLocal), "record kernels");
    std::exception_ptr error;
    try {
      for (int i = 0; i < times; ++i) body();
    } catch (...) {
      error = std::current_exception();
    }
    auto status = cudaStreamCaptureStatusActive;
    cudaStreamIsCapturing(on.stream, &status);
    const auto code = cudaStreamEndCapture(on.stream, made.put());
    if (status == cudaStreamCaptureStatusInvalidated && tries > 1) {  // perhaps by a thread outside dice
      cudaGetLastError();
      continue;
    }
    if (error) std::rethrow_exception(error);
    on.check(code, "record kernels");
    break;
  }
  executable job;
  on.check(instantiate(made, job), "prepare kernels");
  on.check(cudaGraphUpload(job.get(), on.stream), "prepare kernels");
  return job;
}

}  // namespace dice::kernels::cudnn
