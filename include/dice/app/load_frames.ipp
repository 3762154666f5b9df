#pragma once

#include "dice/app/load_frames.hpp"
#include "dice/frames/npy.hpp"

namespace dice::app {

DICE_API frames::tensor load_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                                    dice::tensor::number as) {
  return frames::read_frames(path, one, what, as);
}

}  // namespace dice::app
