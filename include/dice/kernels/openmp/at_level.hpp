// The backend's kernels in a library with DICE_LEVELS levels (kernels/cpu_level.hpp). The files of src/ that have the
// kernels are compiled for each level, whose number is then DICE_LEVEL. They instantiate at_level, whose functions
// compiled<>::run and convert() call in the level that runs. If there is only one level, compiled<>::run and convert() are
// the kernels themselves.
#pragma once

#include "dice/kernels/cpu_level.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/convolutions.hpp"
#include "dice/kernels/openmp/operators.hpp"

namespace dice::kernels::openmp {

/// The functions of a level, by operator; without one, what the level is.
template <int Level, class Op = void> struct at_level { static void run(const task&, const buffers&); };
template <int Level> struct at_level<Level, conversion> { static void run(const conversion&, const void* from, void* to); };
template <int Level> struct at_level<Level, void> { static const cpu_level about; };

// Each level's files define these.
#define DICE_DECLARE_LEVEL(level)                                                                        \
  template <> void at_level<level, conversion>::run(const conversion& what, const void* from, void* to); \
  template <> const cpu_level at_level<level>::about;
DICE_DECLARE_LEVEL(0)
DICE_DECLARE_LEVEL(1)
DICE_DECLARE_LEVEL(2)
#undef DICE_DECLARE_LEVEL

}  // namespace dice::kernels::openmp

// The kernels of each of these files: calls DICE_KERNEL with their types.
#define DICE_OPENMP_KERNEL(name) DICE_KERNEL(ops::name)
#define DICE_OPENMP_KERNELS DICE_OTHER_OPERATORS(DICE_OPENMP_KERNEL)
#define DICE_OPENMP_DIRECT_KERNELS                                        \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::plain, 0, 0>)     \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 0, 0>)   \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::depthwise, 0, 0>) \
  DICE_KERNEL(ops::mat_mul)
#define DICE_OPENMP_WINOGRAD_KERNELS                                    \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 3, 3>) \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 5, 5>)
#define DICE_OPENMP_WINOGRAD_LINES_KERNELS                              \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 1, 3>) \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 3, 1>) \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 1, 7>) \
  DICE_KERNEL(openmp::convolutions<openmp::direct_kind::blocked, 7, 1>)
