// Random networks under random mappings, in this process: `program NETWORK FOLDER` runs all mappings of one network on the
// frames that generate.py wrote to FOLDER, and compares with what it computed.
#pragma once

#include "networks/mappings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace properties {

namespace detail {

template <class Deal, class Tuple> struct as_mapping;
template <class Frames, class... Entry> struct as_mapping<Frames, std::tuple<Entry...>> {
  using type = dice::mapping<Entry..., Frames>;
};

template <class Network, std::uint32_t Seed, int Frames, class Rank> struct dealt;
template <class Network, std::uint32_t Seed, int Frames, int... Rank>
struct dealt<Network, Seed, Frames, std::integer_sequence<int, Rank...>> {
  using deal = mappings::detail::scattered<Network, static_cast<int>(sizeof...(Rank)), Seed>;
  using entries =
      decltype(std::tuple_cat(std::tuple<dice::dev<Rank, dice::cpu>, typename deal::template layers_of<Rank>>()...));
  using type = typename as_mapping<dice::in_flight<Frames>, entries>::type;
};

}  // namespace detail

/// Every layer on a random one of `Ranks` ranks (fewer if there are fewer layers), `Frames` in flight.
template <class Network, int Ranks, std::uint32_t Seed, int Frames>
using dealt =
    typename detail::dealt<Network, Seed, Frames, std::make_integer_sequence<int, std::min(Ranks, Network::size)>>::type;

/// Runs Network under Map, with the checks of dice::main; its exit code.
template <class Network, class Map> int check(const std::string& program, const std::string& folder) {
  std::vector<std::string> words{program, "--transport", "in-process", "--warmup", "2", "--frames", "40", "--gather"};
  for (const auto& layer : dice::graph::view_of<Network>.layers)
    if (layer.is_input || layer.is_output) {
      const std::string name(layer.onnx_name);
      words.push_back(layer.is_input ? "--input" : "--expect");
      words.push_back(name + "=" + folder + "/" + std::string(Network::name) + "_" + name + ".npy");
    }
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return dice::main<Network, Map>(static_cast<int>(argv.size()), argv.data());
}

/// Seeds of a network's mappings follow from its own.
template <class Network, std::uint32_t Seed> int check_all(const std::string& program, const std::string& folder) {
  int failures = 0;
  const auto one = [&](int code, const char* mapping) {
    std::printf("%s: exit code %d\n", mapping, code);
    failures += code != 0;
  };
  constexpr int few = 2 + static_cast<int>(Seed % 6), frames = 1 + static_cast<int>(Seed * 5 % 16);
  one(check<Network, mappings::even<Network, 1>>(program, folder), "one rank");
  one(check<Network, mappings::even<Network, few>>(program, folder), "stretches");
  one(check<Network, dealt<Network, few, Seed, frames>>(program, folder), "every layer on a random rank of few");
  one(check<Network, dealt<Network, 8, Seed + 1, 16>>(program, folder), "every layer on a random rank of 8");
  return failures ? 1 : 0;
}

}  // namespace properties
