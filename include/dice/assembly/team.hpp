// What a program uses of the backends in addition to their kernels.
#pragma once

#include "dice/meta/library.hpp"
#include "dice/runtime/program.hpp"

#include <cstdint>
#include <span>

namespace dice::assembly {

/// The threads of the backend that computes on CPUs.
DICE_API void start_team(int threads, std::span<const int> cores);
DICE_API void watch_team(std::span<kernels::interval> times);
DICE_API void keep_team(void (*body)(void*), void* with);
DICE_API void each_of_team(void (*body)(void*, std::int64_t, std::int64_t), void* with);

#ifdef DICE_WITH_OPENMP
inline constexpr runtime::team threads{
    .start = &start_team, .watch = &watch_team, .keep = &keep_team, .each = &each_of_team};
#else
inline constexpr runtime::team threads{};
#endif

/// In place of kernels::open_accelerator where the backend is not built in: throws.
[[noreturn]] DICE_API kernels::opened_accelerator open_elsewhere(const platform::unit&);

}  // namespace dice::assembly

#ifdef DICE_HEADER_ONLY
#include "dice/assembly/team.ipp"
#endif
