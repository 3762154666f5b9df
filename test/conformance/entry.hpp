// The form of the generated parts: cases as programs.
#pragma once

#include "../networks/mappings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// A network of a case as a program on one rank.
struct entry {
  std::string name;         ///< folder and name of the case: node/test_add
  std::vector<int> inputs;  ///< graph input i of the network is input_<inputs[i]>.pb
  const dice::runtime::program* program;
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

template <class Network> entry make(const char* name, std::vector<int> inputs) {
  using map = mappings::even<Network, 1>;
  static_assert(dice::assembly::valid<Network, map>);
  return {name, std::move(inputs), &dice::assembly::program_of<Network, map>};
}

}  // namespace conformance
