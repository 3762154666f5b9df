// The bytes of cameras as frames for an engine, and boxes in pixels of their pictures.
#pragma once

#include "dice/app/picture_boxes.hpp"
#include "dice/decode/box.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dice {

using frames::fit_mode;
using frames::picture_settings;
using frames::pixel_converter;
using frames::pixel_format;
using frames::pixel_layout;

/// What turns pictures of this format and size into frames of graph input Input, as `how` says: with ImageNet's mean and
/// deviation, and cropped, unless it says otherwise. Throws a std::runtime_error if there are no such pictures, or the input
/// takes none. convert() writes form.elements() numbers: of a batch, one picture.
template <class Input> pixel_converter converter_for(const pixel_layout& pixels, const picture_settings& how = {}) {
  const std::string what = "input '" + std::string(Input::onnx_name) + "'";
  if (const auto wrong = pixels.mistake(); !wrong.empty()) throw files::error(what + ": " + wrong);
  return {pixels, frames::form_of(Input::result, what, how, Input::op.number)};
}

/// Boxes in pixels of the pictures that `by` converts, without their parts outside of these.
inline std::vector<decode::box> in_picture(std::vector<decode::box> boxes, const pixel_converter& by) {
  const auto& [x, y] = by.axes();
  return app::clipped(app::in_picture(std::move(boxes), by.axes()), x.from, y.from);
}

}  // namespace dice
