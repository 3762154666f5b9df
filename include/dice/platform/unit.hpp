#pragma once

#include <string_view>

namespace dice {

/// Computes on the CPU with as many threads as OMP_NUM_THREADS or the process's binding allows.
struct cpu final {};
/// Computes on the CPU with one thread pinned to each of these cores (numbers as the operating system gives them).
template <int... Core> struct cores final {};
/// Computes on the CPU with N threads, pinned to no core.
template <int N> struct threads final {};
/// Computes on the first GPU of the host. A program with GPUs in its mapping links dice::cudnn.
struct gpu final {};
/// Computes on GPU `Index` of the host.
template <int Index> struct gpu_at final {};

/// Numbers of 32 bits whose products are made of 10 bits of fraction; of 16 bits, with 10 bits of fraction and 5 of
/// exponent; and with 7 and 8.
struct tf32 final {};
struct fp16 final {};
struct bf16 final {};

namespace platform {

/// In what numbers a GPU computes convolutions and products of matrices; tensors are float32 throughout.
enum class numbers : unsigned char { float32, tf32, fp16, bf16 };

/// Kinds of processors, each with a backend of its own.
enum class processor : unsigned char { cpu, gpu };

inline constexpr int most_threads = 1024;  ///< of a unit

/// A unit as a value.
struct unit {
  enum class kind : unsigned char { cpu, cores, threads, gpu };
  kind what = kind::cpu;
  int count = 0;  ///< threads; 0: as many as the process may use
  int gpu_index = 0;
  numbers precision = numbers::float32;  ///< of a GPU

  constexpr processor on() const { return what == kind::gpu ? processor::gpu : processor::cpu; }
};

}  // namespace platform
}  // namespace dice
