// Two unequal hosts for the network `sample`, and profiles of it.
#pragma once

#include "dice/partition/partition.hpp"
#include "sample.hpp"

#include <array>
#include <string_view>

namespace two_hosts {

using namespace dice;
using net = sample::network;
template <int Id> using at = net::layer<Id>;

// At 1 operation and 1 byte per second, times are counts.
using slow = board<"slow", ram<1_GiB>, processor<cores<0, 1, 2, 3>, gflops<1>, gbytes_per_s<1>, watts<3, 1>>>;
using quick = board<"quick", ram<1_GiB>, processor<cores<0, 1>, gflops<3>, gbytes_per_s<2>, watts<8, 2>>>;
using wire = connection<gbytes_per_s<0.5>, us<1>>;
using two = cluster<host<"s", slow>, host<"q", quick>, wire>;

/// Cut before layer Id.
template <int Id, class A = dev<0, cpu>, class B = dev<1, cpu>>
using cut = mapping<A, layers<to<at<Id - 1>>>, B, layers<from<at<Id>>>>;

struct measured {
  static constexpr std::string_view digest = net::weights.structure;
  static constexpr std::array<double, net::size> ms{0, 5, 0, 7, 0, 0, 1, 1, 0, 0, 2, 0};
};
struct of_another : measured {
  static constexpr std::string_view digest = "0";
};
struct incomplete : measured {
  static constexpr std::array<double, net::size> ms{0, 5, 0, -1, 0, 0, 1, 1, 0, 0, 2, 0};
};
struct measured_messages : measured {
  using sending = dice::sending<gbytes_per_s<1>>;
  using receiving = dice::receiving<us<1>, gbytes_per_s<2>>;
  using watts = dice::watts<4, 3>;
};
template <class P> using profiled = cluster<host<"m", board<"m", ram<1_GiB>, processor<cpu, profile<P>, watts<2>>>>>;

}  // namespace two_hosts
