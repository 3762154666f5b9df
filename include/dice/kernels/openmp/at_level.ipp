// For the files of src/ that have kernels: DICE_KERNEL(type) compiles the functions of one.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/kernels/compiled.hpp"
#include "dice/kernels/openmp/at_level.hpp"

#include <cstddef>

namespace dice::kernels::openmp {

template <int Level, class Op> void at_level<Level, Op>::run(const task& t, const buffers& b) {
  run_kernel<openmp::backend, Op>(t, b);
}

}  // namespace dice::kernels::openmp

#if DICE_LEVELS == 1
#define DICE_KERNEL(...) template struct compiled<openmp::backend, __VA_ARGS__>;
#elif DICE_LEVEL == 0  // and what all levels share
#define DICE_KERNEL(...)                                                                               \
  template struct openmp::at_level<0, __VA_ARGS__>;                                                    \
  template void compiled<openmp::backend, __VA_ARGS__>::pack(const task&, parameter_list, std::byte*); \
  template algorithm::choice compiled<openmp::backend, __VA_ARGS__>::variant(const task&, int);
#else
#define DICE_KERNEL(...) template struct openmp::at_level<DICE_LEVEL, __VA_ARGS__>;
#endif
