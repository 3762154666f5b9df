// A GPU that is emulated on the CPU, so that machines without one can test the GPU backend: the parts of the CUDA runtime,
// of cuDNN's backend API and of cuBLASLt that dice uses, behind their real headers. Tests set it up and break it here.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace emulated {

/// What the machine looks like; change it only while no other thread calls CUDA. Before a program starts, the environment
/// variable DICE_EMULATED_GPU can set the same, separated by commas: "driver=12020,total=64M,cudaGraphLaunch#3=719".
struct machine {
  int driver = 13000, runtime = 13000;  ///< driver 0: there is none
  int devices = 1;
  std::size_t total = std::size_t{1} << 30;  ///< bytes that all devices have together
  bool integrated = false;
  bool pauses = true;  ///< streams pause at random, so that missing dependencies show

  /// Functions that fail, and how: "cudaMalloc" always, "cudaMalloc#3" only at its third call from now on (then the entry is
  /// removed). "kernel" stands for kernels, which fail when they run. After an error that disables a GPU, every later call
  /// fails with it, too. cuDNN's and cuBLASLt's functions fail with their own codes. "cudnnBackendFinalize:KIND" fails for
  /// descriptors of one KIND: tensor, operation, graph, heuristics, engine, configuration, plan, pack or other (the helpers
  /// of operations, knobs); "cudnnBackendExecute:captured" for an engine that waits for the GPU, and so breaks captures.
  std::map<std::string, int> errors;
};
machine& now();

/// Resets to the machine of the environment variable, without faults. Waits for all streams first.
void reset();

/// The number of streams, events, graphs, allocations, handles and cuDNN descriptors that exist; tests compare it to find
/// leaks.
std::size_t alive();

// For the emulated libraries and kernels:

/// Enqueues a kernel (or records it, while the stream captures).
cudaError_t enqueue(cudaStream_t, std::function<void()>);
/// Thrown by a kernel that fails.
struct fault {
  cudaError_t code;
};
/// The error that machine::errors has for this call; 0: none.
int injected(const std::string& function);
/// Why no GPU can be used, or the error of an earlier kernel.
cudaError_t state();
/// Waits for the whole GPU, as libraries do when they begin or end; that breaks the captures of all threads.
void synchronize();
/// Whether a GPU may access these bytes.
bool reachable(const void*, std::size_t bytes);
/// Counts what exists: +1, -1.
void count(int change);

}  // namespace emulated
