// CUDA runtime errors as exceptions that name the GPU, the reason and the remedy; and owners of CUDA handles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace dice::kernels::cudnn {

/// "12.4" of 12040.
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why CUDA failed, and what to do; `driver` and `runtime` are versions as CUDA gives them.
inline std::string reason(cudaError_t code, int driver, int runtime) {
  const auto versions =
      "the NVIDIA driver is for CUDA " + version_text(driver) + ", this program for CUDA " + version_text(runtime);
  switch (code) {
    case cudaErrorInsufficientDriver:
      return driver == 0 ? "there is no NVIDIA driver; install one, or map this rank to cpu, cores or threads"
                         : versions + "; install a newer driver, or build with an older CUDA";
    case cudaErrorSystemDriverMismatch:
      return "the NVIDIA driver and its library have different versions, as after an update; restart the host";
    case cudaErrorUnsupportedPtxVersion:
      return versions +
             ", and the GPU's code would have to be compiled; install a newer driver, or build for this GPU "
             "(DICE_CUDA_ARCHITECTURES)";
    case cudaErrorStubLibrary:
      return "the library libcuda that was found is the one for linking only; take its folder out of LD_LIBRARY_PATH";
    case cudaErrorNoDevice:
      return "there is no GPU, or CUDA_VISIBLE_DEVICES hides all; map this rank to cpu, cores or threads";
    case cudaErrorDevicesUnavailable:
      return "other processes use the GPU exclusively (nvidia-smi shows processes and compute mode)";
    case cudaErrorMpsConnectionFailed:
      return "the CUDA MPS daemon does not answer; start or stop it (nvidia-cuda-mps-control)";
    case cudaErrorSystemNotReady:
      return "the GPU is not ready (on servers with NVSwitch: start nvidia-fabricmanager)";
    case cudaErrorNoKernelImageForDevice:
      return "this program has no code for this GPU; build it with its architecture in DICE_CUDA_ARCHITECTURES";
    case cudaErrorMemoryAllocation:
      return "the GPU has too little memory";
    case cudaErrorLaunchTimeout:
      return "a kernel ran longer than the display's watchdog allows; use a GPU without a display";
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return std::string("the GPU reports a fault of its hardware (") + cudaGetErrorString(code) + "; dmesg has more)";
    case cudaErrorIllegalAddress:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return std::string("a kernel has failed (") + cudaGetErrorString(code) +
             "), after which the GPU does nothing more for this process; start the program again, and if it fails again "
             "try it with compute-sanitizer and report it";
    case cudaErrorInvalidDevice:
      return "there is none of this number; CUDA_VISIBLE_DEVICES may hide it";
    case cudaErrorUnknown:
      return "the GPU no longer responds; dmesg says why (Xid), and the host may need a restart";
    default:
      return std::string(cudaGetErrorString(code)) + " (CUDA error " + std::to_string(static_cast<int>(code)) + ", " +
             cudaGetErrorName(code) + ")";
  }
}
inline std::string reason(cudaError_t code) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return reason(code, driver, runtime);
}

/// Throws std::runtime_error "GPU 0: cannot <doing>: <reason>" unless `code` is cudaSuccess.
inline void check(cudaError_t code, int gpu, const char* doing) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears errors that are not sticky
  throw std::runtime_error("GPU " + std::to_string(gpu) + ": cannot " + doing + ": " + reason(code));
}

/// Owns a handle; Destroy is the function that releases it.
template <class Handle, auto Destroy> class owned {
 public:
  owned() = default;
  explicit owned(Handle h) : handle_(h) {}
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned() {
    if (handle_) Destroy(handle_);
  }
  Handle get() const { return handle_; }
  Handle* put() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

using stream = owned<cudaStream_t, cudaStreamDestroy>;
using event = owned<cudaEvent_t, cudaEventDestroy>;
using captured_graph = owned<cudaGraph_t, cudaGraphDestroy>;
using executable = owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using device_memory = owned<void*, cudaFree>;
using pinned_memory = owned<void*, cudaFreeHost>;

inline cudaError_t instantiate(const captured_graph& from, executable& to) {
#if CUDART_VERSION >= 12000
  return cudaGraphInstantiate(to.put(), from.get(), 0);
#else
  return cudaGraphInstantiateWithFlags(to.put(), from.get(), 0);
#endif
}

/// Whether the program is ending and CUDA has shut down first, as for static objects: libraries cannot release anything
/// then.
inline bool has_ended() {
  int device = 0;
  return cudaGetDevice(&device) == cudaErrorCudartUnloading;
}

}  // namespace dice::kernels::cudnn
