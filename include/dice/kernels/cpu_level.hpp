// The instructions for which the kernels for CPUs are compiled. A library for x86-64, x86-64-v2 or x86-64-v3 has them for
// higher levels of x86-64, too, and the process's CPU decides which run; any other library has one level.
#pragma once

#include "dice/meta/library.hpp"
#include "dice/this_host/instructions.hpp"

#include <cstddef>
#include <span>

namespace dice::kernels {

struct cpu_level {
  const char* name;  ///< of x86-64, or DICE_BOARD
  this_host::instructions needs;
};

/// The number of the last level that a CPU with `has` can run; that of the level called `wanted` if it is not null. Throws
/// std::runtime_error if there is none, with what to do.
DICE_API std::size_t choose_level(std::span<const cpu_level> levels, this_host::instructions has, const char* wanted);

/// The levels of this program, each with all that those before it need; empty without kernels for CPUs.
DICE_API std::span<const cpu_level> cpu_levels();

/// The number of the level that runs in this process: choose_level with the variable DICE_CPU_LEVEL. Throws what that
/// throws: programs and engines call it first, so it throws in no kernel.
DICE_API std::size_t cpu_level_here();
/// Its name; "" without kernels for CPUs. Throws like cpu_level_here().
inline const char* cpu_level_name() { return cpu_levels().empty() ? "" : cpu_levels()[cpu_level_here()].name; }

}  // namespace dice::kernels

#ifdef DICE_HEADER_ONLY
#include "dice/kernels/cpu_level.ipp"
#endif
