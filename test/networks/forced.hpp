// Networks whose layers all use one variant, as if --tune had chosen it.
#pragma once

#include <dice/dice.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mappings {

/// Network with variant V of the OpenMP backend for each layer, or the layer's last variant. 0 is direct convolution
/// everywhere; from 1 on, Winograd's algorithm wherever possible, with larger tiles for 3×3 windows.
template <class Network, int V> struct forced {
  static constexpr int size = Network::size;
  static constexpr std::string_view name = Network::name;
  static constexpr dice::graph::weights_file weights = Network::weights;
  template <int Id> using layer = typename Network::template layer<Id>;
};

/// The last variant of each layer of Network.
template <class Network> inline constexpr auto last_variants = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array{dice::algorithm::variants<dice::algorithm::backend::openmp>(Network::template layer<Id>::op,
                                                                                dice::graph::view_of<Network>.operands(Id)) -
                    1 ...};
}
(std::make_integer_sequence<int, Network::size>{});

}  // namespace mappings

template <class Network, int V> struct dice::algorithm::tuned<mappings::forced<Network, V>> {
  static constexpr std::string_view digest = Network::weights.structure;
  static constexpr auto variants = [] {
    auto out = mappings::last_variants<Network>;
    for (int& v : out) v = std::min(v, V);
    return out;
  }();
};
