// Frames from .npy files, for programs with an engine.
#pragma once

#include "dice/frames/tensor.hpp"
#include "dice/meta/library.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"

#include <string>

namespace dice {

namespace app {
/// frames::read_frames, compiled once.
DICE_API frames::tensor load_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                                    dice::tensor::number as);
}  // namespace app

/// Reads a .npy file of frames for graph input Input: shape (N, …), joined along the leading dimension, float32 or the type
/// of the input. Throws a std::runtime_error that names the file, what it holds and what the input takes. Compiles much
/// faster than xt::load_npy.
template <class Input> xt::xarray<float, xt::layout_type::row_major> load_frames(const std::string& path) {
  return app::load_frames(path, Input::result, "input '" + std::string(Input::onnx_name) + "'", Input::op.number);
}

}  // namespace dice

#ifdef DICE_HEADER_ONLY
#include "dice/app/load_frames.ipp"
#endif
