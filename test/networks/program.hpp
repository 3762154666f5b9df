// Networks under all mappings, as one program: `program NETWORK MAPPING [options of dice::main]`, MAPPING being even1,
// even2, even4, even8 or scattered. One program has several networks because most of its compile time does not depend on
// them.
#pragma once

#include "mappings.hpp"

#include <iostream>
#include <string_view>

namespace mappings {

struct entry {
  std::string_view network, mapping;
  int (*run)(int, char**);
};

/// What a program with these networks does.
template <class... Network> int main(int argc, char** argv) {
  const entry entries[] = {
      entry{Network::name, "even1", dice::main<Network, even<Network, 1>>}...,
      entry{Network::name, "even2", dice::main<Network, even<Network, 2>>}...,
      entry{Network::name, "even4", dice::main<Network, even<Network, 4>>}...,
      entry{Network::name, "even8", dice::main<Network, even<Network, 8>>}...,
      entry{Network::name, "scattered", dice::main<Network, scattered<Network, 7>>}...,
  };
  if (argc > 2)
    for (const entry& e : entries)
      if (e.network == argv[1] && e.mapping == argv[2]) {
        argv[2] = argv[0];
        return e.run(argc - 2, argv + 2);
      }
  std::cerr << "usage: " << argv[0] << " NETWORK MAPPING [options of dice::main]\n";
  for (const entry& e : entries) std::cerr << "  " << e.network << ' ' << e.mapping << '\n';
  return 2;
}

}  // namespace mappings
