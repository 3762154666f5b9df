// JPEG and PNG files, decoded and resized by stb. Only its declarations are compiled with programs.
#pragma once

#include "dice/app/picture_form.hpp"
#include "dice/runtime/npy.hpp"

#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

/// Pictures of more pixels, or of a longer side, are refused: files come from anywhere.
inline constexpr std::int64_t most_pixels = 100'000'000;
inline constexpr int longest_side = 65535;

namespace detail {

/// A file's bytes and what its header states.
struct picture_file {
  std::string path, bytes;
  int width = 0, height = 0;

  [[noreturn]] void fail(const std::string& is) const { throw runtime::file_error("'" + path + "' " + is); }
  const stbi_uc* data() const { return reinterpret_cast<const stbi_uc*>(bytes.data()); }
  int size() const { return static_cast<int>(bytes.size()); }
  std::uint32_t word(std::size_t at) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
    return out;
  }
};

/// stb compares no checksums of PNGs, and unpacks whatever a small file holds up to gigabytes: both are looked at before.
[[gnu::cold]] inline void check_png(const picture_file& f) {
  const auto crc = [](std::string_view bytes) {  // a table, as Boost's header has, would cost every program 0.2 s of compile time
    std::uint32_t sum = ~0u;
    for (const unsigned char b : bytes) {
      sum ^= b;
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
  };
  const std::string_view bytes = f.bytes;
  std::string packed;
  for (std::size_t at = 8; bytes.substr(std::min(at - 8, bytes.size()), 4) != "IEND";) {
    if (bytes.size() - at < 12 || f.word(at) > bytes.size() - at - 12) f.fail("is cut short");
    const auto length = f.word(at);
    const auto chunk = bytes.substr(at + 4, 4 + length);
    if (crc(chunk) != f.word(at + 8 + length)) f.fail("is damaged: a checksum is wrong");
    if (chunk.substr(0, 4) == "IDAT") packed += chunk.substr(4);
    if (chunk.substr(0, 4) == "IEND") break;
    at += 12 + length;
  }
  const int depth = bytes[24], kind = bytes[25];
  const std::int64_t samples = kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1;
  const auto rows = std::int64_t{f.height} * (1 + (f.width * samples * depth + 7) / 8);
  const auto most = rows + 4 * std::int64_t{f.height} + 64;  // interlaced ones have more rows, less than twice as many, up to 2 bytes more each
  const auto room = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(most));
  const int found = stbi_zlib_decode_buffer(room.get(), static_cast<int>(most), packed.data(), static_cast<int>(packed.size()));
  if (found < rows) f.fail("is damaged: its data are not those of " + std::to_string(f.width) + "×" + std::to_string(f.height) + " pixels");
}

/// One axis of a picture that is scaled and placed: `from` pixels to `scaled`, of which the middle `to` are taken, or which lie
/// in the middle of `to`.
struct picture_axis {
  int from = 0, scaled = 0, to = 0;

  double scale() const { return static_cast<double>(scaled) / from; }
  int shown() const { return std::min(scaled, to); }
  int skipped() const { return static_cast<int>(std::nearbyint((scaled - shown()) / 2.0)); }  // as torchvision rounds
  int margin() const { return (to - shown()) / 2; }
  /// The pixels from `first` to `last` are those that the middle is made of; stb reads, and rounds, no more than it gets.
  double reach() const { return std::max(1.0, 1 / scale()) + 1; }
  int first() const { return std::max(0, static_cast<int>(skipped() / scale() - reach())); }
  int last() const { return static_cast<int>(std::min<double>(from, std::ceil((skipped() + shown()) / scale() + reach()))); }
};

/// How a picture of `width`×`height` pixels is scaled to the form `f`: x, then y.
inline std::pair<picture_axis, picture_axis> place(int width, int height, const picture_form& f) {
  picture_axis x{width, f.width, f.width}, y{height, f.height, f.height};
  if (f.resize == resize_mode::stretch || (width == f.width && height == f.height)) return {x, y};
  // Of both axes one decides; the other is scaled alike.
  const auto alike = [](picture_axis& decides, picture_axis& follows, int size) {
    const auto other = std::int64_t{size} * follows.from / decides.from;
    decides.scaled = size;
    follows.scaled = static_cast<int>(std::clamp<std::int64_t>(other, 1, std::numeric_limits<int>::max()));
  };
  const bool crops = f.resize == resize_mode::crop;
  const auto size = [&](const picture_axis& a) { return crops ? (a.to * 256 + 112) / 224 : a.to; };
  const auto wide = std::int64_t{size(y)} * width, high = std::int64_t{size(x)} * height;  // wide > high: wider than the input
  if ((wide > high) == crops) alike(y, x, size(y));
  else alike(x, y, size(x));
  return {x, y};
}

struct release {
  void operator()(void* pixels) const { ::stbi_image_free(pixels); }
};

/// Scales the samples, of type T, and writes them to `to` as numbers from 0 to 1.
template <class T> void write_samples(const picture_file& file, const T* pixels, const picture_form& f, float* to) {
  const auto [x, y] = place(file.width, file.height, f);
  const auto channels = static_cast<std::size_t>(f.channels);
  const auto row = static_cast<std::size_t>(file.width) * channels;
  std::vector<T> scaled(static_cast<std::size_t>(x.shown()) * static_cast<std::size_t>(y.shown()) * channels);
  const T* from = pixels + static_cast<std::size_t>(y.first()) * row + static_cast<std::size_t>(x.first()) * channels;
  if (!::stbir_resize_subpixel(from, x.last() - x.first(), y.last() - y.first(), static_cast<int>(row * sizeof(T)), scaled.data(), x.shown(),
                               y.shown(), 0, sizeof(T) == 1 ? STBIR_TYPE_UINT8 : STBIR_TYPE_UINT16, f.channels, STBIR_ALPHA_CHANNEL_NONE, 0,
                               STBIR_EDGE_CLAMP, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE, STBIR_FILTER_TRIANGLE, STBIR_COLORSPACE_LINEAR,
                               nullptr, static_cast<float>(x.scale()), static_cast<float>(y.scale()),
                               static_cast<float>(x.skipped() - x.first() * x.scale()), static_cast<float>(y.skipped() - y.first() * y.scale())))
    file.fail("cannot be resized: out of memory");
  std::fill_n(to, f.elements(), 0.0f);
  const T* sample = scaled.data();
  for (int j = 0; j < y.shown(); ++j)
    for (int i = 0; i < x.shown(); ++i)
      for (int c = 0; c < f.channels; ++c)
        to[f.index(c, j + y.margin(), i + x.margin())] = static_cast<float>(*sample++) / static_cast<float>(std::numeric_limits<T>::max());
}

/// Reads the file, or where `header_only` says so its beginning, and checks the picture's size. Throws file_error.
[[gnu::cold]] inline picture_file open_picture(const std::string& path, const picture_form& f) {
  picture_file file{.path = path};
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<std::int64_t>(in.tellg()) : -1;
  if (size > (1 << 30)) file.fail("has " + std::to_string(size) + " bytes; pictures of up to 1 GiB are read");
  if (size >= 0) file.bytes.resize(static_cast<std::size_t>(size));
  in.seekg(0);
  in.read(file.bytes.data(), size);
  if (!in) file.fail(std::string("cannot be read: ") + std::strerror(errno));
  int channels = 0;
  if (!::stbi_info_from_memory(file.data(), file.size(), &file.width, &file.height, &channels))
    file.fail(std::string("is damaged, or a kind of picture that is not read: ") + ::stbi_failure_reason());
  const auto pixels = std::to_string(file.width) + "×" + std::to_string(file.height) + " pixels";
  if (file.width > longest_side || file.height > longest_side || std::int64_t{file.width} * file.height > most_pixels)
    file.fail("states " + pixels + "; up to 100 million are read, at most 65535 a side");
  if (f.resize == resize_mode::none && (file.width != f.width || file.height != f.height))
    file.fail("has " + pixels + ", the input " + std::to_string(f.width) + "×" + std::to_string(f.height) +
              "; let it be resized with --resize crop, stretch or fit");
  return file;
}

}  // namespace detail

/// Whether a file that begins with these bytes is a JPEG or PNG picture. Others stb would read, too, but with less care.
inline bool is_picture(std::string_view beginning) {
  return beginning.substr(0, 3) == "\xff\xd8\xff" || beginning.substr(0, 8) == "\x89PNG\r\n\x1a\n";
}

/// Reads a JPEG or PNG file in form `f` to `to`, f.elements() numbers: colours become grey, or grey ones colours, as the form has
/// 3 channels or 1; transparency and EXIF's orientation are ignored. Throws file_error.
[[gnu::cold]] inline void read_picture(const std::string& path, const picture_form& f, float* to) {
  const auto file = detail::open_picture(path, f);
  if (file.bytes[0] != '\xff') detail::check_png(file);
  int width = 0, height = 0, channels = 0;
  const auto read = [&](auto load) {
    const std::unique_ptr<std::remove_pointer_t<decltype(load(nullptr, 0, nullptr, nullptr, nullptr, 0))>, detail::release> pixels(
        load(file.data(), file.size(), &width, &height, &channels, f.channels));
    if (!pixels) file.fail(std::string("is cut short or damaged: ") + ::stbi_failure_reason());
    detail::write_samples(file, pixels.get(), f, to);
  };
  if (::stbi_is_16_bit_from_memory(file.data(), file.size())) read(::stbi_load_16_from_memory);
  else read(::stbi_load_from_memory);
  f.normalize(to);
}

}  // namespace dice::app
