#pragma once

#include "dice/placement/finding.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace dice::placement {

/// A mistake's name, and what to do about it, in the words of the compiler's remedy.
struct mistake_words {
  std::string_view name;
  std::string remedy;
};

inline mistake_words words_of(mistake what) {
  const auto spoken = [](std::string_view name, std::string remedy) {
    for (char& c : remedy)
      if (c == '_') c = ' ';
    using words = std::pair<std::string_view, std::string_view>;  // as spoken, as written
    for (const auto& [said, written] :
         {words("dice cudnn", "dice::cudnn"), words("direct convolutions", "direct_convolutions")})
      if (const auto at = remedy.find(said); at != std::string::npos) remedy.replace(at, said.size(), written);
    return mistake_words{name, std::move(remedy)};
  };
  switch (what) {
#define DICE_SAYS(name, arguments, remedy) \
  case mistake::name:                      \
    return spoken(#name, #remedy);
    DICE_MISTAKES(DICE_SAYS)
#undef DICE_SAYS
    case mistake::none:
    case mistake::no_mapping:
      break;
  }
  return {};
}

}  // namespace dice::placement
