#pragma once

#include "dice/app/load_frames.hpp"
#include "dice/runtime/npy.hpp"

namespace dice::app {

DICE_API runtime::tensor load_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                                     dice::tensor::number as) {
  return runtime::read_frames(path, one, what, as);
}

}  // namespace dice::app
