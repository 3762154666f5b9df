#pragma once

#include "dice/placement/written.hpp"

#include <string_view>

namespace dice::placement {

/// A word of the mapping language for a work.
struct work_word {
  std::string_view word;
  way how;
};
inline constexpr work_word work_words[]{{"layers", way::whole},
                                        {"rows", way::rows},
                                        {"columns", way::columns},
                                        {"tiles", way::tiles},
                                        {"output_channels", way::output_channels},
                                        {"input_channels", way::input_channels},
                                        {"replicas", way::replicas}};

}  // namespace dice::placement
