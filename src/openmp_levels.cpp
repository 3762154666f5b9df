// In a library whose OpenMP kernels are compiled for several levels of CPUs: the functions that call those of the level that
// runs.
#include "dice/kernels/openmp/at_level.hpp"
#include "dice/kernels/openmp/convert.hpp"

#include <utility>

namespace dice::kernels {

namespace {

template <class Op, class... Arguments> void at_this_level(const Arguments&... arguments) {
  [&]<int... Level>(std::integer_sequence<int, Level...>) {
    static constexpr void (*run[])(Arguments...){&openmp::at_level<Level, Op>::run...};
    run[cpu_level_here()](arguments...);
  }
  (std::make_integer_sequence<int, DICE_LEVELS>());
}

}  // namespace

void openmp::convert(const conversion& what, const void* from, void* to) {
  at_this_level<conversion, const conversion&, const void*, void*>(what, from, to);
}

#define DICE_KERNEL(...)                                                                          \
  template <> void compiled<openmp::backend, __VA_ARGS__>::run(const task& t, const buffers& b) { \
    at_this_level<__VA_ARGS__, const task&, const buffers&>(t, b);                                \
  }
DICE_OPENMP_KERNELS
DICE_OPENMP_DIRECT_KERNELS
DICE_OPENMP_WINOGRAD_KERNELS
DICE_OPENMP_WINOGRAD_LINES_KERNELS

}  // namespace dice::kernels
