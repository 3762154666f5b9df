// The contract between kernels and runtime: a fusion group is a value (task), and the functions that compute it are the
// same for all groups of an operator.
//
// A backend is a folder with one class template specialisation per operator, or per family of operators (activations.hpp,
// copies.hpp):
//
//   template <> struct kernel<openmp::backend, ops::conv> : openmp::base<ops::conv> {
//     static void compute(op, shapes of the inputs, shape of the result, call, finish);
//     static void prepare(op, shapes of the inputs, shape of the result, variant, from, to);  // only if it packs weights
//   };
//
// The folder's base<Op> says what `call` and `finish` are: its `execution` makes them from a task and its buffers, which
// have the layouts in which the kernel works. On a CPU compute() neither allocates nor throws. Each
// folder's operators.hpp says which operators it computes, so that code that only needs the addresses of kernels does not
// compile them. An operator that a backend lacks is a compile-time error that names the layer and the backend.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/activation.hpp"
#include "dice/graph/operator.hpp"
#include "dice/tensor/region.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::kernels {

/// A backend as a type. Each folder names its own: openmp::backend.
template <algorithm::backend Backend> struct tag final { static constexpr algorithm::backend value = Backend; };

/// The kernel of operator `Op` in backend `Backend`.
template <class Backend, class Op> struct kernel;

/// Whether `Backend` has a kernel for `Op`.
template <class Backend, class Op> inline constexpr bool has_kernel = false;

/// Whether this program has the kernels of `Backend`. A program without them may have a plan in which other hosts use them
/// (DICE_CUDA=ELSEWHERE).
template <class Backend> inline constexpr bool is_here = true;

struct opened_accelerator;  // kernels/accelerator.hpp

/// The function that opens the accelerator of a unit, on which `Backend` computes; null for CPUs, and if this program does
/// not have `Backend`. Throws std::runtime_error.
using opener = opened_accelerator (*)(const platform::unit& on);
template <class Backend> inline constexpr opener open_accelerator = nullptr;

/// The anchor's parameters (plain, as in the weights file, each 64-byte aligned), in their order.
using parameter_list = std::span<const void* const>;

/// Tensors of float32, by their first elements: how kernels on floats see operands and parameters.
class floats {
 public:
  constexpr floats(const void* const* at = nullptr) : at_(at) {}
  const float* operator[](std::size_t k) const { return static_cast<const float*>(at_[k]); }

 private:
  const void* const* at_;
};

/// A fusion group as a value: all that its kernel must know about it.
struct task {
  const void* op = nullptr;        ///< the anchor's operator, of the type that the kernel is for
  graph::shapes inputs{};          ///< of the anchor's operands, in their order
  tensor::shape result{};          ///< of the anchor's result
  bool residual = false;           ///< a tensor of the result's shape is added to it; the last of buffers::inputs
  graph::activation activation{};  ///< then this is applied to the sum
  bool pools_2x2 = false;          ///< then only the largest of each 2 × 2 elements is written
  algorithm::choice how{};         ///< how the anchor is computed
  /// How buffers::inputs lie in memory, and what is written; empty: all plain, dense and float32. Only kernels that can have
  /// tensors with a pitch (algorithm::choice).
  std::span<const tensor::storage> stored{};
  tensor::storage output{};

  template <class Op> constexpr const Op& as() const { return *static_cast<const Op*>(op); }
  constexpr tensor::storage input(std::size_t k) const { return k < stored.size() ? stored[k] : tensor::storage{}; }
  constexpr bool has_pitches() const {
    for (const auto& s : stored)
      if (s.pitch != 0) return true;
    return output.pitch != 0;
  }
};

/// Where the tensors of one execution lie.
struct buffers {
  const void* const* inputs;      ///< the anchor's operands in order, then the residual if there is one
  void* output;                   ///< may equal inputs[0] for operators with `in_place`; Concat's inputs may lie in it
  const void* const* parameters;  ///< the anchor's parameters; null when they were packed
  const std::byte* packed;        ///< what pack() wrote, 64-byte aligned; null when packed_bytes is 0
  std::byte* scratch;             ///< scratch_bytes of the algorithm; 64-byte aligned, undefined content
  /// The rows and columns of the output to compute; null: all. Only for kernels that can (algorithm::choice::block).
  const tensor::region* part = nullptr;
};

/// When a thread worked, in nanoseconds of the steady clock; 0 to 0 if it did not.
struct interval {
  std::int64_t begin = 0, end = 0;
};

/// A copy of a tensor of shape `of`, dense, from one layout into another.
struct conversion {
  tensor::shape of;
  tensor::storage from, to;
};
/// Makes such a copy; both have float32 elements.
using converter = void (*)(const conversion&, const void* from, void* to);

/// The converter of `Backend`; null if its kernels read and write plain tensors only.
template <class Backend> inline constexpr converter converts_by = nullptr;

/// The functions of a kernel.
struct functions {
  void (*run)(const task&, const buffers&) = nullptr;
  /// Writes the weights as task::how says; null where there is nothing to pack.
  void (*pack)(const task&, parameter_list from, std::byte* to) = nullptr;
  /// The algorithm of a number 0, 1 … that can compute a task; null if there is only one.
  algorithm::choice (*variant)(const task&, int number) = nullptr;
};

/// What the runtime holds for a group: its kernel's functions, what they compute, and how many algorithms they offer.
struct entry {
  functions by{};
  task what{};
  int variants = 1;

  void run(const buffers& b) const { by.run(what, b); }
};

/// The functions of kernel<Backend, Op>, which dice's library has compiled once (kernels/compiled.hpp).
template <class Backend, class Op> struct compiled {
  static void run(const task&, const buffers&);
  static void pack(const task&, parameter_list from, std::byte* to);
  static algorithm::choice variant(const task&, int number);
};

}  // namespace dice::kernels
