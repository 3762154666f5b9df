#pragma once

#include <string_view>

namespace dice {

/// Computes on the CPU with as many threads as OMP_NUM_THREADS or the process's binding allows.
struct cpu final {};
/// Computes on the CPU with one thread pinned to each of these cores (numbers as the operating system gives them).
template <int... Core> struct cores final {};
/// Computes on the CPU with N threads, pinned to no core.
template <int N> struct threads final {};
/// Computes on the first GPU of the host.
struct gpu final {};
/// Computes on GPU `Index` of the host.
template <int Index> struct gpu_at final {};

namespace platform {

/// Kinds of processors, each with a backend of its own.
enum class processor : unsigned char { cpu, gpu };

/// A unit as a value.
struct unit {
  enum class kind : unsigned char { cpu, cores, threads, gpu };
  kind what = kind::cpu;
  int count = 0;  ///< threads; 0: as many as the process may use
  int gpu_index = 0;

  constexpr processor on() const { return what == kind::gpu ? processor::gpu : processor::cpu; }
};

}  // namespace platform
}  // namespace dice
