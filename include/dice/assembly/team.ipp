#pragma once

#include "dice/assembly/team.hpp"
#include "dice/kernels/accelerator.hpp"

#ifdef DICE_WITH_OPENMP
#include "dice/kernels/openmp/stack.hpp"
#include "dice/kernels/openmp/team.hpp"
#endif

#include <stdexcept>

namespace dice::assembly {

#ifdef DICE_WITH_OPENMP
/// Gives the calling thread's OpenMP team `threads` threads, or one on each of `cores`. Throws if their stacks are too
/// small.
DICE_API void start_team(int threads, std::span<const int> cores) {
  if (cores.empty() || !kernels::team::pin(cores)) kernels::team::set_threads(threads);
  kernels::team::require_stack();
}
DICE_API void watch_team(std::span<kernels::interval> times) { kernels::team::watch(times); }
DICE_API void keep_team(void (*body)(void*), void* with) { kernels::team::keep(body, with); }
DICE_API void each_of_team(void (*body)(void*, std::int64_t, std::int64_t), void* with) { kernels::team::each(body, with); }
#endif

DICE_API kernels::opened_accelerator open_elsewhere(const platform::unit&) {
  throw std::runtime_error(
      "this rank computes on a GPU, but its program was built without CUDA (DICE_CUDA=ELSEWHERE); build it here with "
      "-DDICE_CUDA=ON, or start this rank on a host whose program has it");
}

}  // namespace dice::assembly
