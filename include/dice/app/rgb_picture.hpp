// Pictures of 8 bits a sample: from JPEG and PNG files or frames, and back to files. Only with stb.
#pragma once

#include "dice/app/input/pictures.hpp"
#include "dice/files/error.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/picture_form.hpp"

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

struct rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const rgb&, const rgb&) = default;
};

struct rgb_picture {
  int width = 0, height = 0;
  std::vector<rgb> pixels{};  ///< row by row, from the top left

  rgb_picture(int w, int h, rgb colour = {})
      : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), colour) {}
  rgb& at(int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  const rgb& at(int x, int y) const { return const_cast<rgb_picture*>(this)->at(x, y); }
};
static_assert(sizeof(rgb) == 3);  // stb reads and writes pixels as bytes

/// Reads a JPEG or PNG file in its own size; grey ones become coloured, transparency and EXIF's orientation are ignored.
/// Throws files::error.
[[gnu::cold]] inline rgb_picture read_rgb(const std::string& path) {
  const auto file = detail::checked_file(path, {.channels = 3});
  int width = 0, height = 0, channels = 0;
  const auto release = [](stbi_uc* samples) { ::stbi_image_free(samples); };
  const std::unique_ptr<stbi_uc, decltype(release)> samples(
      ::stbi_load_from_memory(file.data(), file.size(), &width, &height, &channels, 3), release);
  if (!samples) file.fail(std::string("is cut short or damaged: ") + ::stbi_failure_reason());
  rgb_picture out(width, height);
  const auto* from = samples.get();
  for (auto& pixel : out.pixels) {
    pixel = {from[0], from[1], from[2]};
    from += 3;
  }
  return out;
}

/// The picture that a frame in form `f` shows, f.elements() numbers: what a network sees of a picture, also if it came from
/// elsewhere. Numbers that are too small or too large for a picture become black or white, NaN black.
[[gnu::cold]] inline rgb_picture rgb_of(const float* frame, const frames::picture_form& f) {
  rgb_picture out(f.width, f.height);
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x) {
      const auto sample = [&](int c) {
        c = f.channels == 1 ? 0 : c;
        const auto k = static_cast<std::size_t>(f.bgr ? f.channels - 1 - c : c);
        const float number = frame[f.index(c, y, x)],
                    shown = f.mean.empty() ? number : 255 * (number * f.deviation[k] + f.mean[k]) / f.range;
        return static_cast<std::uint8_t>(shown > 0 ? shown < 255 ? std::nearbyint(shown) : 255 : 0);
      };
      out.at(x, y) = {sample(0), sample(1), sample(2)};
    }
  return out;
}

enum class picture_kind : std::uint8_t { none, jpeg, png };

/// The kind of picture that a file of this name holds: .jpg, .jpeg, .png, whatever the case.
[[gnu::cold]] inline picture_kind kind_of_name(std::string_view path) {
  const auto dot = path.rfind('.');
  std::string end(dot == std::string_view::npos ? "" : path.substr(dot));
  for (auto& c : end)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return end == ".png" ? picture_kind::png : end == ".jpg" || end == ".jpeg" ? picture_kind::jpeg : picture_kind::none;
}

/// The bytes of a JPEG file (quality 90 of 100) or PNG file.
[[gnu::cold]] inline std::string encoded(const rgb_picture& picture, picture_kind kind) {
  std::string out;
  const auto append = [](void* to, void* bytes, int n) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(n));
  };
  const int done = kind == picture_kind::png
                       ? ::stbi_write_png_to_func(append, &out, picture.width, picture.height, 3, picture.pixels.data(), 0)
                       : ::stbi_write_jpg_to_func(append, &out, picture.width, picture.height, 3, picture.pixels.data(), 90);
  if (!done)
    throw files::error("a picture of " + std::to_string(picture.width) + "×" + std::to_string(picture.height) +
                       " pixels cannot be encoded");
  return out;
}

/// How long a picture's file lasts.
enum class lasting : std::uint8_t {
  stays,     ///< write_picture waits until it is on the disk
  replaced,  ///< by the next frame's picture, so nobody waits for the disk
};

/// Writes a picture as JPEG or PNG, as the file's name ends; the file appears or is replaced whole or not at all. Throws
/// files::error.
[[gnu::cold]] inline void write_picture(const std::string& path, const rgb_picture& picture, lasting how = lasting::stays) {
  const auto kind = kind_of_name(path);
  if (kind == picture_kind::none)
    throw files::error("'" + path + "' cannot be written: the name of a picture must end in .jpg, .jpeg or .png");
  files::writer out(path);
  out.write(encoded(picture, kind));
  if (how == lasting::stays) out.commit();
  else out.replace();
}

}  // namespace dice::app
