// Boards that are slower than this machine: tools/testbed emulates them.
#pragma once

#include <cstdlib>

namespace dice::this_host {

/// How many times slower than its core a CPU rank computes: the variable DICE_COMPUTE_SLOWER; 1 without it. Messages are not
/// slower.
inline double compute_slower() {
  const char* given = std::getenv("DICE_COMPUTE_SLOWER");
  const double factor = given ? std::atof(given) : 1;
  return factor > 1 && factor < 1e6 ? factor : 1;
}

}  // namespace dice::this_host
