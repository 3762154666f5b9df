// What all kernels of the backend begin with: the GPU that records them, operands in plain layout, and how they end.
#pragma once

#include "dice/cost/cudnn.hpp"
#include "dice/kernels/cudnn/cuda/kernels.hpp"
#include "dice/kernels/cudnn/detail/convolutions.hpp"
#include "dice/kernels/cudnn/detail/products.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/layouts.hpp"
#include "dice/kernels/kernel.hpp"

#include <cstdint>
#include <type_traits>

namespace dice::kernels::gpu {

/// Kernels are recorded by the device that this is, on the thread that does so: on its stream, with its libraries.
struct recording {
  setting on;
  gpu::convolutions convolutions{on};
  gpu::products products{on};

  template <class Parameters> void start(const Parameters& p) { on.check(gpu::start(p, on.stream), "compute"); }
};
inline thread_local recording* current = nullptr;

/// An activation as an ending.
inline ending ending_of(const graph::nothing&) { return {}; }
inline ending ending_of(const ops::relu&) { return {.f = function::relu}; }
inline ending ending_of(const ops::leaky_relu& op) { return {.f = function::leaky_relu, .a = op.alpha}; }
inline ending ending_of(const ops::elu& op) { return {.f = function::elu, .a = op.alpha}; }
inline ending ending_of(const ops::clip& op) { return {.f = function::clip, .a = op.low, .b = op.high}; }
inline ending ending_of(const ops::sigmoid&) { return {.f = function::sigmoid}; }
inline ending ending_of(const ops::tanh&) { return {.f = function::tanh}; }
inline ending ending_of(const ops::hard_sigmoid& op) { return {.f = function::hard_sigmoid, .a = op.alpha, .b = op.beta}; }
inline ending ending_of(const ops::hard_swish&) { return {.f = function::hard_swish}; }

/// As the CUDA kernels count; cost::choose_cudnn has seen to it that it fits.
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

/// Gives Kernel its run(): hands constants to Kernel::compute(op, inputs, result, call, ending), which all layers of an
/// operator share and which may throw std::runtime_error.
template <class Op, class Kernel = kernel<cudnn, Op>> struct base {
  template <class Group> static void run(const call& c) {
    static_assert(!Group::has_pool, "this backend takes no pooling into a group");
    ending e;
    if constexpr (Group::has_activation) e = ending_of(Group::activation::op);
    if constexpr (Group::has_residual) e.residual = c.inputs[Group::inputs.size()];
    shared(Group::anchor::op, Group::inputs, Group::anchor::result, c, e);
  }

  DICE_SHARED static void shared(const Op& op, graph::shapes in, const tensor::shape& result, const call& c,
                                 const ending& e) {
    const auto to_layout = [](tensor::layout as, const tensor::shape& s, const float* from, float* to) {
      current->start(
          convert{to, from, count(s[0]), count(s[1]), count(s.product(2, s.rank)), as == tensor::layout::blocked});
    };
    detail::in_its_layouts(in, result, result, c, e.residual, to_layout, [&](const call& own, const float* residual) {
      ending finish = e;
      finish.residual = residual;
      Kernel::compute(op, in, result, own, finish);
    });
  }
};

}  // namespace dice::kernels::gpu
