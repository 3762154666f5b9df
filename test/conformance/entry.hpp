// The form of the generated parts: cases as programs.
#pragma once

#include "../networks/mappings.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// A network of a case as two programs: on one rank, and, unless DICE_ON_ONE_RANK is defined, with every layer on a random
/// one of two.
struct entry {
  std::string name;         ///< folder and name of the case: node/test_add
  std::vector<int> inputs;  ///< graph input i of the network is input_<inputs[i]>.pb
  const dice::runtime::program *alone, *scattered;
};

/// All networks of the program.
inline std::vector<entry>& entries() {
  static std::vector<entry> all;
  return all;
}

/// A translation unit's networks add themselves.
struct part {
  explicit part(const std::vector<entry>& more) { entries().insert(entries().end(), more.begin(), more.end()); }
};

template <class Network, class Map> constexpr const dice::runtime::program* program() {
  static_assert(dice::assembly::valid<Network, Map>);
  return &dice::assembly::program_of<Network, Map>;
}

template <class Network, std::uint32_t Seed> entry make(const char* name, std::vector<int> inputs) {
  entry out{name, std::move(inputs), program<Network, mappings::even<Network, 1>>(), nullptr};
#ifndef DICE_ON_ONE_RANK
  using deal = mappings::detail::scattered<Network, 2, Seed>;
  out.scattered = program<Network, dice::mapping<dice::dev<0, dice::cpu>, typename deal::template layers_of<0>,
                                                 dice::dev<1, dice::cpu>, typename deal::template layers_of<1>>>();
#endif
  return out;
}

}  // namespace conformance
