#pragma once

#include "dice/kernels/cpu_level.hpp"
#if defined(DICE_WITH_OPENMP) && !defined(DICE_HEADER_ONLY)
#include "dice/kernels/openmp/at_level.hpp"
#endif

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace dice::kernels {

[[gnu::cold]] DICE_API std::size_t choose_level(std::span<const cpu_level> levels, this_host::instructions has,
                                                const char* wanted) {
  std::size_t usable = 0;
  while (usable < levels.size() && (levels[usable].needs & ~has) == 0) ++usable;
  if (usable == 0 && !levels.empty())
    throw std::runtime_error(std::string(this_host::lack_text(levels[0].needs, has).text) +
                             ", for which the kernels of this program were compiled (DICE_BOARD=" + levels[0].name +
                             "); build it with -DDICE_BOARD=" + this_host::board_for(has));
  if (!wanted) return usable > 0 ? usable - 1 : 0;
  std::string names, remedy = "; unset the variable";
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].name == std::string(wanted)) {
      if (i < usable) return i;
      throw std::runtime_error("DICE_CPU_LEVEL is '" + std::string(wanted) + "', but " +
                               this_host::lack_text(levels[i].needs, has).text + remedy + ", or name " + names);
    }
    names += (names.empty() ? "" : " or ") + std::string(levels[i].name);
  }
  if (names.empty()) throw std::runtime_error("DICE_CPU_LEVEL is set, but this program has no kernels for CPUs" + remedy);
  throw std::runtime_error("DICE_CPU_LEVEL is '" + std::string(wanted) + "', which this program has not" + remedy +
                           ", or name " + names);
}

DICE_API std::span<const cpu_level> cpu_levels() {
#if !defined(DICE_WITH_OPENMP)
  return {};
#elif defined(DICE_HEADER_ONLY)  // this_host/refuse_cpu.hpp has seen to the CPU
  static constexpr cpu_level one[]{{"header_only", 0}};
  return one;
#else
  static const auto all = []<int... Level>(std::integer_sequence<int, Level...>) {
    return std::array{openmp::at_level<Level>::about...};
  }
  (std::make_integer_sequence<int, DICE_LEVELS>());
  return all;
#endif
}

DICE_API std::size_t cpu_level_here() {
  static const auto level = choose_level(cpu_levels(), this_host::sets_here(), std::getenv("DICE_CPU_LEVEL"));
  return level;
}

}  // namespace dice::kernels
