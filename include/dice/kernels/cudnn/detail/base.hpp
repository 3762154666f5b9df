// What all kernels of the backend begin with: the GPU that records them, operands in plain layout, and how they end.
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

/// Kernels are recorded by the device that this is, on the thread that does so: on its stream, with its libraries.
struct recording {
  setting on;
  cudnn::convolutions convolutions{on};
  cudnn::products products{on};

  template <class Parameters> void start(const Parameters& p) { on.check(cudnn::start(p, on.stream), "compute"); }
};
inline thread_local recording* current = nullptr;

/// An activation as an ending.
inline ending ending_of(const graph::activation& f) { return {.f = f.is, .a = f.a, .b = f.b}; }

/// As the CUDA kernels count; algorithm::choose_cudnn has seen to it that it fits.
constexpr int count(std::int64_t n) { return static_cast<int>(n); }

/// Elements end as `e` says, where a kernel could not see to it itself.
inline void finish(float* y, std::int64_t n, const ending& e) {
  if (e.f != function::none || e.residual) current->start(elements{y, y, count(n), nullptr, nullptr, 1, 1, e});
}

/// Copies `n` elements.
inline void copy(float* to, const float* from, std::int64_t n) {
  current->on.check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(float), cudaMemcpyDeviceToDevice, current->on.stream),
      "copy");
}

/// Gives Kernel its run(), by Kernel::compute(op, inputs, result, call, ending), which may throw std::runtime_error.
template <class Op, class Kernel = kernel<cudnn::backend, Op>> struct base {
  static void run(const task& t, const buffers& b) {
    const auto to_layout = [](tensor::layout as, const tensor::shape& s, const float* from, float* to) {
      current->start(
          convert{to, from, count(s[0]), count(s[1]), count(s.product(2, s.rank)), as == tensor::layout::blocked});
    };
    const float* const residual = t.residual ? b.inputs[t.inputs.size()] : nullptr;
    detail::in_its_layouts(t, t.result, {b, t.how, t.output}, residual, to_layout, [&](const call& own, const float* r) {
      ending finish = ending_of(t.activation);
      finish.residual = r;
      Kernel::compute(t.as<Op>(), t.inputs, t.result, own, finish);
    });
  }
};

}  // namespace dice::kernels::cudnn
