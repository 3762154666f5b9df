#pragma once

#include "dice/meta/library.hpp"
#include "dice/runtime/program.hpp"

#include <string_view>

namespace dice::assembly {

/// For runtime::program::remap.
DICE_API runtime::owned_mapping remap(const runtime::program& own, std::string_view given);

}  // namespace dice::assembly

#ifdef DICE_HEADER_ONLY
#include "dice/assembly/remap.ipp"
#endif
