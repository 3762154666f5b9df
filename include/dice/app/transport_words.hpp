// The words of --transport, from the list of transports.
#pragma once

#include "dice/channels/transports.hpp"
#include "dice/meta/fixed_string.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace dice::app {

/// What all transports say of Member, as one text: First, the first, Between, the second, …, Last, the last.
template <std::string_view channels::transport_info::*Member, meta::fixed_string First, meta::fixed_string Between,
          meta::fixed_string Last>
class transport_words {
  static constexpr std::string_view before(std::size_t i) {
    return i == 0 ? First.view() : i + 1 < channels::transports.size() ? Between.view() : Last.view();
  }
  static constexpr std::size_t size = [] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < channels::transports.size(); ++i)
      n += before(i).size() + (channels::transports[i]->*Member).size();
    return n;
  }();
  static constexpr std::array<char, size> text = [] {
    std::array<char, size> out{};
    auto at = out.begin();
    for (std::size_t i = 0; i < channels::transports.size(); ++i)
      for (const auto part : {before(i), channels::transports[i]->*Member}) at = std::copy(part.begin(), part.end(), at);
    return out;
  }();

 public:
  static constexpr std::string_view view{text.data(), size};
};

}  // namespace dice::app
