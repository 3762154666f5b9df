// The table that a program writes with --tune, for its next build: see docs/kernels.md.
#pragma once

#include <array>
#include <string_view>

namespace dice::algorithm {

/// Variants of the OpenMP backend (variants_openmp) as measured on a board. Specialised by the header that --tune writes,
/// with the members
///   static constexpr std::string_view digest;       of the network's structure
///   static constexpr std::array<int, N> variants;   by layer id; -1: not tuned
template <class Net> struct tuned {};

/// Whether there is a table for network Net.
template <class Net>
concept is_tuned = requires {
  tuned<Net>::variants;
};

}  // namespace dice::algorithm
