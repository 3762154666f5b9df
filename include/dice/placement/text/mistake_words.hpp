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
    if (const auto at = remedy.find("dice cudnn"); at != std::string::npos) remedy.replace(at, 10, "dice::cudnn");
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
