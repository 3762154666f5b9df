// .npy files, read and written by xtensor behind checks of its own: its reader accepts files that are cut short and allocates
// whatever the header says.
#pragma once

#include "dice/runtime/tensor.hpp"

#include <xtensor/xnpy.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dice::runtime {

/// A file of frames that cannot be read, or is of the wrong type or shape; the text names it, what was expected and found.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

struct npy_header {
  std::string type;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0;  ///< where it begins
};

/// The text behind `'key':` in the dictionary of a header, without blanks before it.
inline std::string_view value_of(std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  auto rest = header.substr(at + key.size() + 2);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  if (rest.empty() || rest[0] != ':') return {};
  rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return rest;
}

/// Reads the header; throws file_error. Nothing of the data is read.
inline npy_header read_npy_header(const std::string& path) {
  const auto fail = [&](const std::string& what) -> void { throw file_error("'" + path + "' " + what); };
  std::ifstream in(path, std::ios::binary);
  struct stat status {};
  if (!in || ::stat(path.c_str(), &status) != 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("is a folder, no .npy file");
  unsigned char head[12] = {};
  in.read(reinterpret_cast<char*>(head), 12);
  if (in.gcount() < 10 || std::memcmp(head, "\x93NUMPY", 6) != 0) fail("is no .npy file; write it with numpy.save");
  const int version = head[6];
  if (version != 1 && version != 2) fail("is of .npy version " + std::to_string(version) + ", which dice does not read; write it with numpy.save");
  const std::int64_t begin = version == 1 ? 10 : 12;
  std::int64_t length = head[8] | head[9] << 8;
  if (version == 2) length |= static_cast<std::int64_t>(head[10]) << 16 | static_cast<std::int64_t>(head[11]) << 24;
  if (length > (1 << 20) || begin + length > status.st_size) fail("is cut short or damaged: its header does not fit in it");
  std::string text(static_cast<std::size_t>(length), ' ');
  in.clear();
  in.seekg(begin);
  in.read(text.data(), length);
  if (in.gcount() != length) fail("cannot be read");

  npy_header out;
  out.data = begin + length;
  const auto type = value_of(text, "descr"), shape = value_of(text, "shape");
  if (type.size() < 2 || type[0] != '\'' || type.find('\'', 1) == std::string_view::npos)
    fail("holds records, not one tensor; write the tensor with numpy.save");
  out.type = type.substr(1, type.find('\'', 1) - 1);
  const auto close = shape.find(')');
  if (shape.empty() || shape[0] != '(' || close == std::string_view::npos) fail("is damaged: its header states no shape");
  for (auto rest = shape.substr(1, close - 1); !rest.empty();) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,L"), rest.size()));
    if (rest.empty()) break;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) fail("is damaged: its header states no shape");
    out.shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  return out;
}

}  // namespace detail

/// Reads a .npy file that holds frames of shape `one` joined along the leading dimension: float32, little-endian. `what` says
/// what they are for ("input 'image'"). At least one frame. Throws file_error.
inline tensor read_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what) {
  const auto h = detail::read_npy_header(path);
  std::vector<std::int64_t> extents(one.dim, one.dim + one.rank);
  if (extents.empty()) extents.push_back(1);
  const auto expected = shape_text(extents, extents[0] == 1 ? "N" : "N·" + std::to_string(extents[0]));
  const auto found = "'" + path + "' holds " + h.type + shape_text(h.shape);
  if (h.type != "<f4")
    throw file_error(found + "; " + what + " is float32" + expected + ": save it with .astype(np.float32)");
  const auto frames = frames_in(h.shape, one);
  if (frames < 0) throw file_error(found + "; " + what + " is float32" + expected + ", N ≥ 1 frames");
  if (frames == 0) throw file_error(found + ", no frame; " + what + " is float32" + expected + ", N ≥ 1 frames");
  struct stat status {};
  ::stat(path.c_str(), &status);
  const std::int64_t frame_bytes = one.bytes();
  if (frames > INT64_MAX / 2 / frame_bytes || status.st_size - h.data != frames * frame_bytes)
    throw file_error("'" + path + "' is cut short or damaged: " + std::to_string(status.st_size - h.data) +
                     " bytes of data, its header states " + shape_text(h.shape) + " of 4 bytes each; write it anew");
  try {
    return xt::load_npy<float>(path);
  } catch (const std::bad_alloc&) {
    throw file_error("'" + path + "' does not fit into memory: " + std::to_string(status.st_size) + " bytes");
  } catch (const std::exception& e) {
    throw file_error("'" + path + "' cannot be read (" + e.what() + "); write it with numpy.save");
  }
}

/// Calls write(path of a temporary file) and renames that to `path` when it is complete. What is no regular file (a device, a
/// pipe) is written directly. Throws file_error.
template <class F>
void replace_file(const std::string& path, F write) {
  struct stat status {};
  const bool direct = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string temporary = direct ? path : path + ".tmp" + std::to_string(::getpid());
  try {
    write(temporary);
  } catch (const std::exception& e) {
    if (!direct) std::remove(temporary.c_str());
    throw file_error("'" + path + "' cannot be written: " + e.what());
  }
  if (!direct && std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    throw file_error("'" + path + "' cannot be written: " + why);
  }
}

/// Writes a text file, as write_npy does.
inline void write_text(const std::string& path, std::string_view text) {
  replace_file(path, [&](const std::string& temporary) {
    errno = 0;
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error(errno ? std::strerror(errno) : "unknown reason");
  });
}

/// Writes a .npy file: float32, C order. Throws file_error; a failure leaves no file.
inline void write_npy(const std::string& path, const tensor& all) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return write_text(path, xt::dump_npy(all));
  replace_file(path, [&](const std::string& temporary) {
    errno = 0;
    xt::dump_npy(temporary, all);  // says nothing when the disk is full
    struct stat written {};
    const int why = errno;
    if (::stat(temporary.c_str(), &written) != 0 || written.st_size < static_cast<std::int64_t>(all.size() * sizeof(float)))
      throw std::runtime_error(why ? std::strerror(why) : "the disk is full");
  });
}

}  // namespace dice::runtime
