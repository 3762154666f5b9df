// The contract between kernels and runtime.
//
// A backend is a folder with one class template specialisation per operator:
//
//   template <> struct kernel<openmp, ops::conv> {
//     template <class Group> static void pack(int variant, source from, std::byte* to);  // only if packed_bytes > 0
//     template <class Group> static void run(const call& c);
//   };
//
// `Group` is a graph::group: everything about the layer is constant there. Both functions are thin: they pass constants to
// micro-kernels shared by all layers. run() neither allocates nor throws. An operator that a backend lacks has no
// specialisation and is refused at compile time, naming layer and backend.
#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::kernels {

/// A backend as a type.
template <cost::backend Backend> struct tag final { static constexpr cost::backend value = Backend; };
using reference = tag<cost::backend::reference>;
using openmp = tag<cost::backend::openmp>;
using cudnn = tag<cost::backend::cudnn>;
using cudnn_fp16 = tag<cost::backend::cudnn_fp16>;
using cudnn_bf16 = tag<cost::backend::cudnn_bf16>;

/// Primary template: backend `Backend` has no kernel for operator `Op`.
template <class Backend, class Op> struct kernel;

/// Whether `Backend` has a kernel for `Op`.
template <class Backend, class Op>
concept has_kernel = requires {
  sizeof(kernel<Backend, Op>);
};

/// The anchor's parameters (plain, as in the weights file, each 64-byte aligned), in their order.
using source = std::span<const float* const>;

/// One execution of a group. Tensors are float32 with the extents that the group states, in these layouts.
struct call {
  const float* const* inputs;      ///< the anchor's operands in order, then the residual's other operand if there is one
  float* output;                   ///< may equal inputs[0] for operators with `in_place`; Concat's inputs may lie in it
  const float* const* parameters;  ///< the anchor's parameters; null when they were packed
  const std::byte* packed;         ///< what pack() wrote, 64-byte aligned; null when packed_bytes is 0
  std::byte* scratch;  ///< scratch_bytes of the algorithm, and what it converts; 64-byte aligned, undefined content
  const cost::algorithm* how = nullptr;           ///< what was chosen for the group's anchor
  const tensor::layout* layouts = nullptr;        ///< of the inputs; null: all plain
  tensor::layout result = tensor::layout::plain;  ///< of the output
};

/// When a thread worked, in nanoseconds of the steady clock; 0 to 0 if it did not.
struct interval {
  std::int64_t begin = 0, end = 0;
};

/// What the runtime holds for a group: its functions. `pack` is null when there is nothing to pack; it takes the algorithm's
/// `variant`. How many variants there are to choose from, 0 … n - 1, and each of them; null if there is but one.
struct entry {
  void (*run)(const call&) = nullptr;
  void (*pack)(int variant, source from, std::byte* to) = nullptr;
  int variants = 1;
  cost::algorithm (*variant)(int number) = nullptr;
};

}  // namespace dice::kernels
