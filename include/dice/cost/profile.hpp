// Times of layers on a processor: from its stated rates, or from a measured profile.
#pragma once

#include "dice/cost/time.hpp"
#include "dice/graph/network.hpp"
#include "dice/platform/board.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace dice::cost {

/// A measured profile: a struct of a header that onnx2hpp --profile made, with the members
///   static constexpr std::string_view digest;      of the weights file of the network
///   static constexpr std::array<double, N> ms;     by layer id: of what is computed from this layer on as one; 0: nothing
///   is,
///                                                  or it is computed with an earlier one; negative: not measured
template <class T>
concept profile_type = requires {
  { T::digest } -> std::convertible_to<std::string_view>;
  { T::ms.size() } -> std::convertible_to<std::size_t>;
  { T::ms[0] } -> std::convertible_to<double>;
};

enum class profile_mistake : unsigned char { none, not_a_profile, other_network, layer_missing };

/// What is wrong with profile Measured for network Net; `layer` is the id of the one missing.
struct profile_finding {
  profile_mistake what = profile_mistake::none;
  int layer = 0;
};
template <class Net, class Measured> consteval profile_finding check_profile() {
  if constexpr (!profile_type<Measured>) return {profile_mistake::not_a_profile, 0};
  else if constexpr (Measured::digest != Net::weights.digest || Measured::ms.size() != static_cast<std::size_t>(Net::size))
    return {profile_mistake::other_network, 0};
  else {
    for (int l = 0; l < Net::size; ++l)
      if (!(Measured::ms[static_cast<std::size_t>(l)] >= 0)) return {profile_mistake::layer_missing, l};
    return {};
  }
}

/// Time of each layer of Net on Processor (a dice::processor), by id, in s. With stated rates that of each layer alone;
/// who fuses layers leaves out what is computed with another one.
template <class Net, class Processor>
inline constexpr std::array<double, Net::size> layer_seconds = [] {
  using traits = platform::processor_traits<Processor>;
  std::array<double, Net::size> out{};
  for (int l = 0; l < Net::size; ++l) {
    if constexpr (profile_type<typename traits::measured>)
      out[static_cast<std::size_t>(l)] = traits::measured::ms[static_cast<std::size_t>(l)] * 1e-3;
    else out[static_cast<std::size_t>(l)] = roofline_seconds(graph::view_of<Net>, l, traits::value);
  }
  return out;
}();

}  // namespace dice::cost
