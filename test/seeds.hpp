// The seeds of random tests.
#pragma once

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

}  // namespace test
