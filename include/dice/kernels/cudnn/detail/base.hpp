// What all kernels of the backend start from: the GPU that records them, operands in plain layout, and their last step.
#pragma once

#include "dice/algorithm/cudnn.hpp"
#include "dice/kernels/cudnn/cuda/kernels.hpp"
#include "dice/kernels/cudnn/detail/convolutions.hpp"
#include "dice/kernels/cudnn/detail/products.hpp"
#include "dice/kernels/cudnn/operators.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/layouts.hpp"
#include "dice/kernels/kernel.hpp"

#include <cstdint>
#include <type_traits>

namespace dice::kernels::cudnn {

/// The device for which the current thread records kernels: on its stream, with its libraries.
struct recording {
  setting on;
  cudnn::convolutions convolutions{on};
  cudnn::products products{on};

  template <class Parameters> void start(const Parameters& p) { on.check(cudnn::start(p, on.stream), "compute"); }
};
inline thread_local recording* current = nullptr;

/// An activation as an ending.
inline ending ending_of(const graph::activation& f) { return {.f = f.is, .a = f.a, .b = f.b}; }

/// A count as the CUDA kernels take it; algorithm::choose_cudnn has checked that it fits.
constexpr int count(std::int64_t n) { return static_cast<int>(n); }

/// Applies the last step `e` for kernels that cannot do so themselves.
inline void finish(float* y, std::int64_t n, const ending& e) {
  if (e.f != function::none || e.residual) current->start(elements{y, y, count(n), nullptr, nullptr, 1, 1, e});
}

/// Copies `n` elements.
inline void copy(float* to, const float* from, std::int64_t n) {
  current->on.check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(float), cudaMemcpyDeviceToDevice, current->on.stream),
      "copy");
}

/// One execution as the backend's kernels see it.
struct execution : detail::laid_out_execution {
  ending finish;

  execution(const task& t, const buffers& b) : laid_out_execution(t, b), finish(ending_of(t.activation)) {
    finish.residual = residual;
  }
};

/// What every kernel of the backend derives from (kernels/kernel.hpp). Its compute() may throw std::runtime_error.
template <class Op> struct base {
  using op_type = Op;
  using execution = cudnn::execution;
};

}  // namespace dice::kernels::cudnn
