// What tests of reports have in common.
#pragma once

#include "runtime/toy.hpp"

#include "dice/job/clock_shift.hpp"

#include <cstdint>

inline const toy::program& one() {
  static const toy::program p(toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 6);
  return p;
}

/// A clock with a constant offset from rank 0's.
inline dice::job::clock_shift steady(std::int64_t offset) { return {{0, offset}, {1'000'000'000, offset}}; }
