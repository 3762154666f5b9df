// The stacks of threads that run kernels.
#pragma once

#include "dice/this_host/stack.hpp"

#include <omp.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace dice::kernels::team {

/// Bytes of stack that each thread needs for kernels: Winograd's sums take up to 228 KiB, and there are the frames of
/// callers.
inline constexpr std::size_t least_stack = 320 << 10;

/// Throws std::runtime_error if the calling thread or one of its team has less. Beyond the end of a stack, kernels could
/// write into other memory without a signal, since their frames are larger than its guard.
inline void require_stack() {
  std::size_t left = this_host::stack_left();
#pragma omp parallel num_threads(omp_get_max_threads()) reduction(min : left)
  left = this_host::stack_left();
  if (left >= least_stack) return;
  throw std::runtime_error("kernels need " + std::to_string(least_stack >> 10) +
                           " KiB of stack in each thread, but there is one with " + std::to_string(left >> 10) +
                           "; set OMP_STACKSIZE and ulimit -s to 512 or more, or leave them out");
}

}  // namespace dice::kernels::team
