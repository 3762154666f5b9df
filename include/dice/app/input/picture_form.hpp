// The form in which a graph input takes pictures.
#pragma once

#include "dice/app/options.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/shape.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

/// A picture as float32 numbers: (channels, height, width), or (height, width, channels) where channels come last. A sample
/// from 0 to 1 becomes (sample - mean) / deviation of its channel, or a whole number from 0 to 255.
struct picture_form {
  int channels = 0, height = 0, width = 0;
  bool channels_last = false;
  resize_mode resize = resize_mode::crop;
  std::vector<float> mean{}, deviation{};  ///< one number a channel; none: bytes, from 0 to 255

  std::int64_t elements() const { return std::int64_t{channels} * height * width; }
  /// Where the sample of pixel (y, x) in channel c lies.
  std::int64_t index(int c, int y, int x) const {
    return channels_last ? (std::int64_t{y} * width + x) * channels + c : (std::int64_t{c} * height + y) * width + x;
  }
  /// Applies mean and deviation to the samples of a picture at `to`, or makes them bytes.
  void normalize(float* to) const {
    for (int c = 0; c < channels; ++c)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          auto& sample = to[index(c, y, x)];
          sample = mean.empty() ? std::nearbyint(255 * sample) : (sample - mean[c]) / deviation[c];
        }
  }
};

/// Whether an option asks for a form other than the default.
inline bool asks_for_form(const options& o) {
  return !o.mean.empty() || !o.deviation.empty() || o.channels_last || o.resize != resize_mode::crop;
}

/// The form for graph input `what` of shape `one`, N×C×H×W or C×H×W (N×H×W×C or H×W×C with --layout nhwc), C 1 or 3. Mean
/// and deviation are as --mean and --std say, or else ImageNet's for 3 channels, and 0 and 1 for 1; an input whose `type` is
/// uint8 takes bytes then. Throws files::error.
[[gnu::cold]] inline picture_form form_of(const dice::tensor::shape& one, const std::string& what, const options& o,
                                          dice::tensor::number type = {}) {
  const std::vector<std::int64_t> extents(one.dim, one.dim + one.rank);
  const auto fail = [&](const std::string& is) {
    throw files::error("pictures do not fit " + what + ", " + frames::type_name(type) + " " + frames::shape_text(extents) +
                       ": " + is);
  };
  if (one.rank != 3 && one.rank != 4) fail("they need channels, height and width");
  picture_form f{.channels_last = o.channels_last, .resize = o.resize};
  const int first = one.rank - 3;
  f.channels = static_cast<int>(one[first + (o.channels_last ? 2 : 0)]);
  f.height = static_cast<int>(one[first + (o.channels_last ? 0 : 1)]);
  f.width = static_cast<int>(one[first + (o.channels_last ? 1 : 2)]);
  if (f.channels != 1 && f.channels != 3)
    fail("it has " + std::to_string(f.channels) + " channels, but pictures give 1 or 3; " +
         (o.channels_last ? "without --layout nhwc channels come first" : "if channels come last, use --layout nhwc"));
  const auto numbers = [&](const std::vector<float>& given, std::vector<float> three, float otherwise, const char* option) {
    const auto n = static_cast<std::size_t>(f.channels);
    if (given.size() > 1 && given.size() != n)
      fail(std::string(option) + " gives " + std::to_string(given.size()) + " numbers, but it has 1 channel");
    return given.size() == n   ? given
           : given.size() == 1 ? std::vector<float>(n, given[0])
           : n == 3            ? three
                               : std::vector<float>{otherwise};
  };
  if (type == dice::tensor::number::uint8 && o.mean.empty() && o.deviation.empty()) return f;
  f.mean = numbers(o.mean, {0.485f, 0.456f, 0.406f}, 0, "--mean");
  f.deviation = numbers(o.deviation, {0.229f, 0.224f, 0.225f}, 1, "--std");
  return f;
}

/// Whether a file that begins with these bytes is a JPEG or PNG picture. stb would read others, too, but with less care.
inline bool is_picture(std::string_view beginning) {
  return beginning.substr(0, 3) == "\xff\xd8\xff" || beginning.substr(0, 8) == "\x89PNG\r\n\x1a\n";
}

}  // namespace dice::app
