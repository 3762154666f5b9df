// The form in which a graph input takes pictures.
#pragma once

#include "dice/files/error.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::frames {

/// How a picture is brought to the input's size: see docs/running.md.
enum class fit_mode : unsigned char { crop, stretch, letterbox, none };
/// Their words, in this order.
inline constexpr std::array<std::string_view, 4> fit_words{"crop", "stretch", "letterbox", "none"};

/// How pictures become frames, as the command line says.
struct picture_settings {
  std::vector<float> mean{}, deviation{};  ///< one number, or one per channel of the input; empty: not given
  float range = 1;                         ///< samples are scaled to 0 … range first
  bool channels_last = false;
  bool bgr = false;  ///< blue is the input's first channel
  fit_mode fit = fit_mode::crop;
  int border = 0;  ///< samples around a picture of fit_mode::letterbox, from 0 to 255

  bool operator==(const picture_settings&) const = default;
  /// Whether they say how samples become numbers.
  bool scales() const { return !mean.empty() || !deviation.empty() || range != 1; }
};

/// A picture as float32 numbers: (channels, height, width), or (height, width, channels) where channels come last. A sample
/// from 0 to 1 becomes (range · sample - mean) / deviation of its channel, or a whole number from 0 to 255.
struct picture_form {
  int channels = 0, height = 0, width = 0;
  bool channels_last = false, bgr = false;
  fit_mode fit = fit_mode::crop;
  int border = 0;
  float range = 1;
  std::vector<float> mean{}, deviation{};  ///< one number a channel; none: bytes, from 0 to 255

  std::int64_t elements() const { return std::int64_t{channels} * height * width; }
  /// Where the sample of pixel (y, x) in channel c of a picture lies: red, green, blue.
  std::int64_t index(int c, int y, int x) const {
    const int k = bgr ? channels - 1 - c : c;
    return channels_last ? (std::int64_t{y} * width + x) * channels + k : (std::int64_t{k} * height + y) * width + x;
  }
  /// Applies mean and deviation to the samples of a picture at `to`, or makes them bytes.
  void normalize(float* to) const {
    const std::int64_t pixels = std::int64_t{height} * width;
    for (int k = 0; k < channels; ++k)
      for (std::int64_t i = 0; i < pixels; ++i) {
        auto& sample = to[channels_last ? i * channels + k : k * pixels + i];
        sample = mean.empty() ? std::nearbyint(255 * sample) : (range * sample - mean[k]) / deviation[k];
      }
  }
};

/// The form for graph input `what` of shape `one`, N×C×H×W or C×H×W (N×H×W×C or H×W×C if channels come last), C 1 or 3.
/// Mean and deviation are as `s` says, or else ImageNet's for 3 channels, and 0 and 1 for 1; an input whose `type` is uint8
/// takes bytes then. Throws files::error.
[[gnu::cold]] inline picture_form form_of(const dice::tensor::shape& one, const std::string& what, const picture_settings& s,
                                          dice::tensor::number type = {}) {
  const std::vector<std::int64_t> extents(one.dim, one.dim + one.rank);
  const auto fail = [&](const std::string& is) {
    throw files::error("pictures do not fit " + what + ", " + type_name(type) + " " + shape_text(extents) + ": " + is);
  };
  if (one.rank != 3 && one.rank != 4) fail("they need channels, height and width");
  picture_form f{.channels_last = s.channels_last, .bgr = s.bgr, .fit = s.fit, .border = s.border, .range = s.range};
  const int first = one.rank - 3;
  f.channels = static_cast<int>(one[first + (s.channels_last ? 2 : 0)]);
  f.height = static_cast<int>(one[first + (s.channels_last ? 0 : 1)]);
  f.width = static_cast<int>(one[first + (s.channels_last ? 1 : 2)]);
  if (f.channels != 1 && f.channels != 3)
    fail("it has " + std::to_string(f.channels) + " channels, but pictures give 1 or 3; " +
         (s.channels_last ? "without --layout nhwc channels come first" : "if channels come last, use --layout nhwc"));
  const auto numbers = [&](const std::vector<float>& given, std::vector<float> three, float otherwise, const char* option) {
    const auto n = static_cast<std::size_t>(f.channels);
    if (given.size() > 1 && given.size() != n)
      fail(std::string(option) + " gives " + std::to_string(given.size()) + " numbers, but it has 1 channel");
    return given.size() == n   ? given
           : given.size() == 1 ? std::vector<float>(n, given[0])
           : n == 3            ? three
                               : std::vector<float>{otherwise};
  };
  if (type == dice::tensor::number::uint8 && s.mean.empty() && s.deviation.empty()) return f;
  // ImageNet's numbers are for samples from 0 to 1, in red, green, blue.
  const float r = s.range;
  std::vector<float> mean{0.485f * r, 0.456f * r, 0.406f * r}, deviation{0.229f * r, 0.224f * r, 0.225f * r};
  if (s.bgr) {
    std::swap(mean[0], mean[2]);
    std::swap(deviation[0], deviation[2]);
  }
  f.mean = numbers(s.mean, mean, 0, "--mean");
  f.deviation = numbers(s.deviation, deviation, r, "--std");
  return f;
}

/// Whether a file that begins with these bytes is a JPEG or PNG picture. stb would read others, too, but with less care.
inline bool is_picture(std::string_view beginning) {
  return beginning.substr(0, 3) == "\xff\xd8\xff" || beginning.substr(0, 8) == "\x89PNG\r\n\x1a\n";
}

}  // namespace dice::frames
