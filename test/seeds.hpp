// The seeds of random tests.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace test {

/// 0 … count - 1, after those of `kept` that are not among them: seeds that once found a mistake, and always run.
inline std::vector<unsigned> seeds(unsigned count, std::initializer_list<unsigned> kept) {
  std::vector<unsigned> out;
  for (const unsigned seed : kept)
    if (seed >= count) out.push_back(seed);
  for (unsigned seed = 0; seed < count; ++seed) out.push_back(seed);
  return out;
}

/// How many random plans a test makes: `usual`, or what DICE_PROPERTY_PLANS in the environment says.
inline unsigned plans(unsigned usual) {
  const char* const wanted = std::getenv("DICE_PROPERTY_PLANS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : usual;
}

}  // namespace test
