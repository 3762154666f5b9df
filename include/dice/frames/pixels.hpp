// The bytes of cameras and video decoders as frames.
#pragma once

#include "dice/frames/picture_form.hpp"
#include "dice/frames/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::frames {

/// How a picture's pixels lie in memory, in the names of ffmpeg's pixel formats. float32: not a picture, but a frame as the
/// network takes it.
enum class pixel_format : unsigned char { float32, rgb24, bgr24, gray8, nv12, yuv420p, yuyv422 };
/// Their words, in this order.
inline constexpr std::array<std::string_view, 7> pixel_words{"float32", "rgb24",   "bgr24",  "gray8",
                                                             "nv12",    "yuv420p", "yuyv422"};

/// A picture's size and format.
struct pixel_layout {
  pixel_format format = pixel_format::float32;
  int width = 0, height = 0;

  /// Of one picture, without padding between rows. Not of float32.
  std::int64_t bytes() const {
    const auto pixels = std::int64_t{width} * height;
    switch (format) {
      case pixel_format::gray8:
        return pixels;
      case pixel_format::nv12:
      case pixel_format::yuv420p:
        return pixels * 3 / 2;
      case pixel_format::yuyv422:
        return pixels * 2;
      default:
        return pixels * 3;
    }
  }
  /// Why there is no picture of this size, or "": formats that share colours between pixels need even sizes.
  std::string mistake() const {
    const auto even = [&](int n, const char* what) {
      return n % 2 == 0 ? ""
                        : std::string(pixel_words[static_cast<std::size_t>(format)]) + " needs an even " + what + ", not " +
                              std::to_string(n);
    };
    const bool quarters = format == pixel_format::nv12 || format == pixel_format::yuv420p;
    if (!quarters && format != pixel_format::yuyv422) return {};
    const auto wrong = even(width, "width");
    return wrong.empty() && quarters ? even(height, "height") : wrong;
  }
};

namespace detail {

/// The bytes of the colours that luma `y` and chroma `u`, `v` stand for: ITU-R BT.601, luma from 16 to 235 and chroma from
/// 16 to 240, as cameras give them.
inline void write_colours(int y, int u, int v, std::uint8_t* rgb) {
  // The matrix in 1/2^16.
  const int light = 76309 * (y - 16) + 32768, d = u - 128, e = v - 128;
  const auto byte = [](int sum) { return static_cast<std::uint8_t>(std::clamp(sum >> 16, 0, 255)); };
  rgb[0] = byte(light + 104597 * e);
  rgb[1] = byte(light - 25675 * d - 53279 * e);
  rgb[2] = byte(light + 132201 * d);
}
/// The grey of luma `y`.
inline std::uint8_t grey_of(int y) {
  return static_cast<std::uint8_t>(std::clamp((76309 * (y - 16) + 32768) >> 16, 0, 255));
}
/// The grey of a colour, by the weights of BT.601: as stb computes it for files.
inline std::uint8_t grey_of(int r, int g, int b) { return static_cast<std::uint8_t>((r * 77 + g * 150 + 29 * b) >> 8); }

}  // namespace detail

/// Turns pictures of one layout into a graph input's frames.
class pixel_converter {
 public:
  /// `layout` is not float32 and has no mistake().
  pixel_converter(const pixel_layout& layout, const picture_form& form)
      : layout_(layout), form_(form), scaler_(layout.width, layout.height, form) {}

  const pixel_layout& layout() const { return layout_; }
  /// Where the pixels of the input come from: x, then y.
  const std::pair<picture_axis, picture_axis>& axes() const { return scaler_.axes(); }

  /// Converts a picture of layout.bytes() bytes to form.elements() numbers at `to`.
  void convert(const std::uint8_t* picture, float* to) {
    scaler_.write(samples(picture), 1.0f / 255, to);
    form_.normalize(to);
  }
  /// The picture with three bytes a pixel: red, green, blue.
  std::vector<std::uint8_t> colours(const std::uint8_t* picture) const {
    std::vector<std::uint8_t> out(pixels() * 3);
    unpack(picture, 3, out.data());
    return out;
  }

 private:
  std::size_t pixels() const { return static_cast<std::size_t>(layout_.width) * static_cast<std::size_t>(layout_.height); }

  /// The picture with as many bytes a pixel as the form has channels.
  const std::uint8_t* samples(const std::uint8_t* picture) {
    if (layout_.format == (form_.channels == 3 ? pixel_format::rgb24 : pixel_format::gray8)) return picture;
    unpacked_.resize(pixels() * static_cast<std::size_t>(form_.channels));
    unpack(picture, form_.channels, unpacked_.data());
    return unpacked_.data();
  }
  void unpack(const std::uint8_t* in, int channels, std::uint8_t* out) const {
    const std::size_t n = pixels(), width = static_cast<std::size_t>(layout_.width);
    const auto luma = [&](std::size_t i, int y, int u, int v) {
      if (channels == 3) detail::write_colours(y, u, v, out + 3 * i);
      else out[i] = detail::grey_of(y);
    };
    switch (layout_.format) {
      case pixel_format::gray8:
        for (std::size_t i = 0; i < n; ++i) std::fill_n(out + i * static_cast<std::size_t>(channels), channels, in[i]);
        return;
      case pixel_format::nv12:
        for (std::size_t row = 0, i = 0; i < n; ++row) {
          const auto* chroma = in + n + row / 2 * width;
          for (std::size_t x = 0; x < width; ++x, ++i) luma(i, in[i], chroma[x & ~std::size_t{1}], chroma[x | 1]);
        }
        return;
      case pixel_format::yuv420p:
        for (std::size_t row = 0, i = 0; i < n; ++row) {
          const auto *u = in + n + row / 2 * (width / 2), *v = u + n / 4;
          for (std::size_t x = 0; x < width; ++x, ++i) luma(i, in[i], u[x / 2], v[x / 2]);
        }
        return;
      case pixel_format::yuyv422:
        for (std::size_t i = 0; i < n; ++i) {
          const auto* pair = in + i / 2 * 4;
          luma(i, pair[i % 2 * 2], pair[1], pair[3]);
        }
        return;
      default: {
        const int red = layout_.format == pixel_format::bgr24 ? 2 : 0;
        for (std::size_t i = 0; i < n; ++i, in += 3)
          if (channels == 3) {
            out[3 * i] = in[red];
            out[3 * i + 1] = in[1];
            out[3 * i + 2] = in[2 - red];
          } else {
            out[i] = detail::grey_of(in[red], in[1], in[2 - red]);
          }
      }
    }
  }

  const pixel_layout layout_;
  const picture_form form_;
  picture_scaler scaler_;
  std::vector<std::uint8_t> unpacked_;
};

}  // namespace dice::frames
