// Pictures in memory, scaled to a graph input.
#pragma once

#include "dice/frames/picture_form.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace dice::frames {

/// One axis of a picture that is scaled and placed: `from` pixels become `scaled`, of which the middle `to` are taken, or
/// which are centred in `to`.
struct picture_axis {
  int from = 0, scaled = 0, to = 0;

  int shown() const { return std::min(scaled, to); }
  int skipped() const { return static_cast<int>(std::nearbyint((scaled - shown()) / 2.0)); }  // as torchvision rounds
  int margin() const { return (to - shown()) / 2; }
  /// Where position `at` of the input, in pixels from its edge, lies in the picture.
  double in_picture(double at) const { return (at - margin() + skipped()) * from / scaled; }
};

/// How a picture of `width`×`height` pixels is scaled to the form `f`: x, then y.
inline std::pair<picture_axis, picture_axis> axes_of(int width, int height, const picture_form& f) {
  picture_axis x{width, f.width, f.width}, y{height, f.height, f.height};
  if (f.fit == fit_mode::stretch || (width == f.width && height == f.height)) return {x, y};
  // One axis decides the scale; the other follows.
  const auto alike = [](picture_axis& decides, picture_axis& follows, int size) {
    const auto other = std::int64_t{size} * follows.from / decides.from;
    decides.scaled = size;
    follows.scaled = static_cast<int>(std::clamp<std::int64_t>(other, 1, std::numeric_limits<int>::max()));
  };
  const bool crops = f.fit == fit_mode::crop;
  const auto size = [&](const picture_axis& a) { return crops ? (a.to * 256 + 112) / 224 : a.to; };
  const auto wide = std::int64_t{size(y)} * width,
             high = std::int64_t{size(x)} * height;  // wide > high: wider than the input
  if ((wide > high) == crops) alike(y, x, size(y));
  else alike(x, y, size(x));
  return {x, y};
}

/// Scales pictures of one size to a form, bilinearly as Pillow and torchvision do it: a triangle over two pixels of the
/// picture or of the scaled one, whichever are larger.
class picture_scaler {
 public:
  /// For pictures of `width`×`height` pixels.
  picture_scaler(int width, int height, const picture_form& f)
      : form_(f),
        axes_(axes_of(width, height, f)),
        columns_(taps_of(axes_.first)),
        rows_(taps_of(axes_.second)),
        row_(static_cast<std::size_t>(width) * static_cast<std::size_t>(f.channels)) {}

  /// Where the pixels of the input come from: x, then y.
  const std::pair<picture_axis, picture_axis>& axes() const { return axes_; }

  /// Scales the samples at `from`, row by row with the form's channels of each pixel side by side, and writes them, times
  /// `scale`, to `to`: form.elements() numbers from 0 to 1, without mean and deviation.
  template <class Sample> void write(const Sample* from, float scale, float* to) {
    const auto& [x, y] = axes_;
    const auto channels = static_cast<std::size_t>(form_.channels);
    if (x.shown() < x.to || y.shown() < y.to) std::fill_n(to, form_.elements(), static_cast<float>(form_.border) / 255);
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      std::fill(row_.begin(), row_.end(), 0.0f);
      const auto* in = from + static_cast<std::size_t>(rows_[j].begin) * row_.size();
      for (const float weight : rows_[j].weights)
        for (auto& sum : row_) sum += weight * static_cast<float>(*in++);
      const int row = static_cast<int>(j) + y.margin();
      for (std::size_t c = 0; c < channels; ++c) {
        float* at = to + form_.index(static_cast<int>(c), row, x.margin());
        const std::int64_t step = form_.channels_last ? form_.channels : 1;
        for (const auto& column : columns_) {
          const float* pixel = &row_[static_cast<std::size_t>(column.begin) * channels + c];
          float sum = 0;
          for (const float weight : column.weights) {
            sum += weight * *pixel;
            pixel += channels;
          }
          *at = sum * scale;
          at += step;
        }
      }
    }
  }

 private:
  /// The pixels from `begin` on that make up one shown pixel, and their weights.
  struct taps {
    int begin = 0;
    std::vector<float> weights{};
  };

  static std::vector<taps> taps_of(const picture_axis& a) {
    std::vector<taps> out;
    const double step = static_cast<double>(a.from) / a.scaled, reach = std::max(1.0, step);
    for (int i = 0; i < a.shown(); ++i) {
      const double centre = (a.skipped() + i + 0.5) * step;
      const int begin = std::max(0, static_cast<int>(centre - reach + 0.5)),
                end = std::min(a.from, static_cast<int>(centre + reach + 0.5));
      double sum = 0;
      const auto weight = [&](int at) { return std::max(0.0, 1 - std::abs(at + 0.5 - centre) / reach); };
      for (int at = begin; at < end; ++at) sum += weight(at);
      auto& one = out.emplace_back(taps{begin});
      for (int at = begin; at < end; ++at)
        if (weight(at) > 0) one.weights.push_back(static_cast<float>(weight(at) / sum));
        else if (one.weights.empty()) ++one.begin;
    }
    return out;
  }

  const picture_form form_;
  const std::pair<picture_axis, picture_axis> axes_;
  const std::vector<taps> columns_, rows_;
  std::vector<float> row_;
};

}  // namespace dice::frames
