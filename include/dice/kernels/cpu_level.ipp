#pragma once

#include "dice/kernels/cpu_level.hpp"
#if defined(DICE_WITH_OPENMP) && !defined(DICE_HEADER_ONLY)
#include "dice/kernels/openmp/at_level.hpp"
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
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
  const std::string given = "DICE_CPU_LEVEL is '" + std::string(wanted) + "', ";
  if (levels.empty()) throw std::runtime_error(given + "but this program has no kernels for CPUs; unset the variable");
  const auto found = static_cast<std::size_t>(
      std::find_if(levels.begin(), levels.end(), [&](const auto& l) { return l.name == std::string_view(wanted); }) -
      levels.begin());
  if (found < usable) return found;
  std::string remedy = "; unset the variable, or name ";
  for (std::size_t i = 0; i < usable; ++i) remedy += (i > 0 ? " or " : "") + std::string(levels[i].name);
  if (found == levels.size()) throw std::runtime_error(given + "which this program does not have" + remedy);
  throw std::runtime_error(given + "but " + this_host::lack_text(levels[found].needs, has).text + remedy);
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
