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

/// A measured profile: a struct in a header made by onnx2hpp --profile, with the members
///   static constexpr std::string_view digest;      of the network's structure
///   static constexpr std::array<double, N> ms;     by layer id: time of the group that begins with this layer; 0: no work,
///                                                  or computed with an earlier layer; negative: not measured
template <class T>
concept profile_type = requires {
  { T::digest } -> std::convertible_to<std::string_view>;
  { T::ms.size() } -> std::convertible_to<std::size_t>;
  { T::ms[0] } -> std::convertible_to<double>;
};

enum class profile_mistake : unsigned char { none, not_a_profile, other_network, layer_missing };

/// What is wrong with profile Measured for network Net; `layer` is the id of the missing layer.
struct profile_finding {
  profile_mistake what = profile_mistake::none;
  int layer = 0;
};
template <class Net, class Measured> consteval profile_finding check_profile() {
  if constexpr (!profile_type<Measured>) return {profile_mistake::not_a_profile, 0};
  else if constexpr (Measured::digest != Net::weights.structure ||
                     Measured::ms.size() != static_cast<std::size_t>(Net::size))
    return {profile_mistake::other_network, 0};
  else {
    for (int l = 0; l < Net::size; ++l)
      if (!(Measured::ms[l] >= 0)) return {profile_mistake::layer_missing, l};
    return {};
  }
}

/// Time of each layer of Net on Processor (a dice::processor), by id, in s. With stated rates, this is each layer's time by
/// itself; callers that fuse layers skip those computed with another one.
template <class Net, class Processor>
inline constexpr std::array<double, Net::size> layer_seconds = [] {
  using traits = platform::processor_traits<Processor>;
  std::array<double, Net::size> out{};
  for (int l = 0; l < Net::size; ++l) {
    if constexpr (profile_type<typename traits::measured>) out[l] = traits::measured::ms[l] * 1e-3;
    else out[l] = roofline_seconds(graph::view_of<Net>, l, traits::value);
  }
  return out;
}();

}  // namespace dice::cost
