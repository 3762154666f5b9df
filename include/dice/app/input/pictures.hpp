// JPEG and PNG files, decoded by stb; programs compile only its declarations. frames/scaling.hpp scales them: Debian's build
// of stb_image_resize fails an assertion, which ends the program, when it shrinks bilinearly to, say, 3/4.
#pragma once

#include "dice/files/error.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/scaling.hpp"

#include <stb/stb_image.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dice::app {

/// Pictures with more pixels or a longer side are refused, since files come from anywhere.
inline constexpr std::int64_t max_pixels = 100'000'000;
inline constexpr int longest_side = 65535;

namespace detail {

/// A file's bytes and what its header states.
struct picture_file {
  std::string path, bytes{};
  int width = 0, height = 0;

  [[noreturn]] void fail(const std::string& is) const { throw files::error("'" + path + "' " + is); }
  const stbi_uc* data() const { return reinterpret_cast<const stbi_uc*>(bytes.data()); }
  int size() const { return static_cast<int>(bytes.size()); }
  std::uint32_t word(std::size_t at) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
    return out;
  }
};

/// stb does not check the checksums of PNGs, and unpacks even a small file to gigabytes: this checks both first.
[[gnu::cold]] inline void check_png(const picture_file& f) {
  const auto crc =
      [](std::string_view bytes) {  // a table, as Boost's header has, would cost every program 0.2 s of compile time
        std::uint32_t sum = ~0u;
        for (const unsigned char b : bytes) {
          sum ^= b;
          for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
        }
        return ~sum;
      };
  const std::string_view bytes = f.bytes;
  std::string packed;
  for (std::size_t at = 8, length = 0;; at += 12 + length) {
    if (bytes.size() - at < 12 || f.word(at) > bytes.size() - at - 12) f.fail("is cut short");
    length = f.word(at);
    const auto chunk = bytes.substr(at + 4, 4 + length), type = chunk.substr(0, 4);
    if (crc(chunk) != f.word(at + 8 + length)) f.fail("is damaged: a checksum is wrong");
    if (type == "IDAT") packed += chunk.substr(4);
    if (type == "IEND") break;
  }
  const int depth = bytes[24], kind = bytes[25];
  const std::int64_t samples = kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1;
  const auto rows = std::int64_t{f.height} * (1 + (f.width * samples * depth + 7) / 8);
  // Interlaced pictures have more rows, but less than twice as many, each up to 2 bytes longer.
  const auto most = rows + 4 * std::int64_t{f.height} + 64;
  const auto room = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(most));
  const int found =
      stbi_zlib_decode_buffer(room.get(), static_cast<int>(most), packed.data(), static_cast<int>(packed.size()));
  if (found < rows)
    f.fail("is damaged: its data do not fit " + std::to_string(f.width) + "×" + std::to_string(f.height) + " pixels");
}

/// Since version 2.28, stb takes what is missing at the end of a JPEG for zeros: this checks that the end is there.
[[gnu::cold]] inline void check_jpeg(const picture_file& f) {
  const auto byte = [&](std::size_t at) -> unsigned {
    if (at >= f.bytes.size()) f.fail("is cut short");
    return static_cast<unsigned char>(f.bytes[at]);
  };
  for (std::size_t at = 2;;) {  // from marker to marker; 0xff 0x00 and restarts are part of the data between them
    const unsigned marker = byte(at) == 0xff ? byte(at + 1) : 0;
    if (marker == 0xd9) return;  // the end of the picture
    if (marker == 0 || marker == 0xff || (marker >= 0xd0 && marker <= 0xd7)) ++at;
    else at += 2 + (byte(at + 2) << 8 | byte(at + 3));
  }
}

/// Refuses a picture whose header stb cannot read (`known` is false) or whose size is not allowed. Throws files::error.
[[gnu::cold]] inline void check_size(const picture_file& file, bool known, const frames::picture_form& f) {
  if (!known) file.fail(std::string("is damaged or an unsupported kind of picture: ") + ::stbi_failure_reason());
  const auto pixels = std::to_string(file.width) + "×" + std::to_string(file.height) + " pixels";
  if (file.width > longest_side || file.height > longest_side || std::int64_t{file.width} * file.height > max_pixels)
    file.fail("has " + pixels + "; the limit is 100 million, and 65535 per side");
  if (f.fit == frames::fit_mode::none && (file.width != f.width || file.height != f.height))
    file.fail("has " + pixels + ", but the input has " + std::to_string(f.width) + "×" + std::to_string(f.height) +
              "; scale it with --fit crop, stretch or letterbox");
}

/// Reads a JPEG or PNG file that is to be taken in form `f`, and checks it as far as can be known before it is decoded.
/// Throws files::error.
[[gnu::cold]] inline picture_file checked_file(const std::string& path, const frames::picture_form& f) {
  picture_file file{.path = path};
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<std::int64_t>(in.tellg()) : 0;
  if (size > (1 << 30)) file.fail("has " + std::to_string(size) + " bytes; the limit is 1 GiB");
  file.bytes.resize(std::max<std::int64_t>(size, 0));
  in.seekg(0);
  if (!in.read(file.bytes.data(), size)) file.fail(std::string("cannot be read: ") + std::strerror(errno));
  int channels = 0;
  const bool known = ::stbi_info_from_memory(file.data(), file.size(), &file.width, &file.height, &channels);
  check_size(file, known && frames::is_picture(file.bytes), f);
  if (file.bytes[0] != '\xff') check_png(file);
  else check_jpeg(file);
  return file;
}

}  // namespace detail

/// Looks at the header of a JPEG or PNG file that is to be read in form `f`. Returns width and height. Throws files::error.
[[gnu::cold]] inline std::pair<int, int> check_picture(const std::string& path, const frames::picture_form& f) {
  detail::picture_file file{.path = path};
  int channels = 0;
  const bool known = ::stbi_info(path.c_str(), &file.width, &file.height, &channels);
  detail::check_size(file, known, f);
  return {file.width, file.height};
}

/// Reads a JPEG or PNG file in form `f` to `to`, f.elements() numbers: colours become grey, or grey ones colours, as the
/// form has 1 channel or 3; transparency and EXIF's orientation are ignored. Throws files::error.
[[gnu::cold]] inline void read_picture(const std::string& path, const frames::picture_form& f, float* to) {
  const auto file = detail::checked_file(path, f);
  int width = 0, height = 0, channels = 0;
  const auto release = [](std::uint16_t* samples) { ::stbi_image_free(samples); };
  const std::unique_ptr<std::uint16_t, decltype(release)> samples(  // 8 bits become 16: 255 is 65535
      ::stbi_load_16_from_memory(file.data(), file.size(), &width, &height, &channels, f.channels), release);
  if (!samples) file.fail(std::string("is cut short or damaged: ") + ::stbi_failure_reason());
  frames::picture_scaler(width, height, f).write(samples.get(), 1.0f / 65535, to);
  f.normalize(to);
}

}  // namespace dice::app
