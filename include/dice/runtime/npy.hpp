// .npy files. xtensor writes them; they are read here into its containers, since its own reader (0.24) misjudges the length
// of headers of 128 bytes and more, accepts truncated files, allocates whatever the header says, and costs every program 2 s
// of compile time.
#pragma once

#include "dice/runtime/interrupt.hpp"
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
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dice::runtime {

/// A file of frames that cannot be read, or is of the wrong type or shape; the text says which file, what was expected and
/// what was found.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

struct npy_header {
  std::string type;  ///< as written: "<f4"
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0, bytes = 0;  ///< where the data begins, and how much of it there is
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

/// NumPy's name of a type in a header: "<f4" gives "float32"; types without a name as written, in quotes.
inline std::string type_name(std::string_view code) {
  if (code == "|b1") return "bool";
  int bytes = 0;
  const auto* const end = code.data() + code.size();
  const std::string kind = code.size() < 3  ? ""
                           : code[1] == 'f' ? "float"
                           : code[1] == 'i' ? "int"
                           : code[1] == 'u' ? "uint"
                           : code[1] == 'c' ? "complex"
                                            : "";
  if (kind.empty() || std::from_chars(code.data() + 2, end, bytes).ptr != end || bytes < 1 || bytes > 32)
    return "'" + std::string(code) + "'";
  return (code[0] == '>' ? "big-endian " : "") + kind + std::to_string(8 * bytes);
}

/// Reads the header of the file `path`, open as `in`; throws file_error. Does not read the data.
[[gnu::cold]] inline npy_header read_npy_header(std::ifstream& in, const std::string& path, const std::string& what) {
  const auto fail = [&](const std::string& is) -> void { throw file_error("'" + path + "' " + is); };
  struct stat status {};
  if (!in || ::stat(path.c_str(), &status) != 0)
    fail(std::string("cannot be opened: ") + std::strerror(errno) + " (" + what + ")");
  unsigned char head[12] = {};
  in.read(reinterpret_cast<char*>(head), 12);
  if (in.gcount() < 10 || std::memcmp(head, "\x93NUMPY", 6) != 0) fail("is not a .npy file; write it with numpy.save");
  const int version = head[6];
  if (version != 1 && version != 2)
    fail("is of .npy version " + std::to_string(version) + ", which dice does not read; write it with numpy.save");
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
  out.bytes = status.st_size - out.data;
  const auto type = value_of(text, "descr"), order = value_of(text, "fortran_order"), shape = value_of(text, "shape");
  if (type.size() < 2 || type[0] != '\'' || type.find('\'', 1) == std::string_view::npos)
    fail("holds records, not one tensor; write the tensor with numpy.save");
  out.type = type.substr(1, type.find('\'', 1) - 1);
  out.fortran = order.substr(0, 4) == "True";
  if (!out.fortran && order.substr(0, 5) != "False") fail("is damaged: its header states no order of the elements");
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

/// Whether `path` is a device, a pipe or a folder rather than a regular file, which can be read at any position and
/// replaced.
inline bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// Whether writing `a` would replace `b`; false for devices and pipes.
inline bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  if (::stat(a.c_str(), &first) != 0 || ::stat(b.c_str(), &second) != 0) return a == b;
  return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Reads a .npy file that holds frames of shape `one` joined along the leading dimension: float32, little-endian. `what`
/// says what they are for ("input 'image'"). Throws file_error, also if there is no frame.
[[gnu::cold]] inline tensor read_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what) {
  if (is_special(path)) throw file_error("'" + path + "' is a folder, a pipe or a device, not a .npy file");
  std::ifstream in(path, std::ios::binary);
  const auto h = detail::read_npy_header(in, path, what);
  std::vector<std::int64_t> extents(one.dim, one.dim + one.rank);
  if (extents.empty()) extents.push_back(1);
  const auto expected =
      what + " is float32 " + shape_text(extents, extents[0] == 1 ? "N" : "N·" + std::to_string(extents[0]));
  const auto found = "'" + path + "' holds " + detail::type_name(h.type) + " " + shape_text(h.shape);
  if (h.type != "<f4") throw file_error(found + "; " + expected + ": save it with .astype(np.float32)");
  const auto frames = frames_in(h.shape, one);
  if (frames < 0) throw file_error(found + "; " + expected + ", N ≥ 1 frames");
  if (frames == 0) throw file_error(found + ", no frame; " + expected + ", N ≥ 1 frames");
  const std::int64_t frame_bytes = one.bytes();
  if (frames > INT64_MAX / 2 / frame_bytes || h.bytes != frames * frame_bytes)
    throw file_error("'" + path + "' is cut short or damaged: " + std::to_string(h.bytes) +
                     " bytes of data, its header states " + shape_text(h.shape) + " of 4 bytes each; write it again");
  const auto read = [&](auto of_layout) {
    auto all = decltype(of_layout)::from_shape(std::vector<std::size_t>(h.shape.begin(), h.shape.end()));
    in.seekg(h.data);
    in.read(reinterpret_cast<char*>(all.data()), h.bytes);
    if (in.gcount() != h.bytes) throw file_error("'" + path + "' cannot be read");
    return all;
  };
  try {
    if (h.fortran) return read(xt::xarray<float, xt::layout_type::column_major>());
    return read(tensor());
  } catch (const std::bad_alloc&) {
    throw file_error("'" + path + "' does not fit into memory: " + std::to_string(h.bytes) + " bytes");
  }
}

/// Throws file_error if the file `path` cannot be written, as far as can be known beforehand.
inline void require_writable(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat status {};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (is_folder) errno = EISDIR;
  if (is_folder || (is_special(path) ? ::access(path.c_str(), W_OK) : ::access(folder.c_str(), W_OK | X_OK)) != 0)
    throw file_error("'" + path + "' cannot be written: " + std::strerror(errno));
}

/// Calls write(path of a temporary file) and renames that to `path` when it is complete. Special files (is_special) are
/// written directly. Throws file_error.
template <class F> void replace_file(const std::string& path, F write) {
  const bool direct = is_special(path);
  const std::string temporary = direct ? path : path + ".tmp" + std::to_string(::getpid());
  std::optional<unfinished_file> marked;
  if (!direct) marked.emplace(temporary);
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
  if (is_special(path)) return write_text(path, xt::dump_npy(all));
  replace_file(path, [&](const std::string& temporary) {
    errno = 0;
    xt::dump_npy(temporary, all);  // says nothing when the disk is full
    const std::string why = errno ? std::strerror(errno) : "the disk is full";
    std::int64_t written = -1;
    try {
      std::ifstream back(temporary, std::ios::binary);
      written = detail::read_npy_header(back, temporary, {}).bytes;
    } catch (const file_error&) {  // not even a header
    }
    if (written != static_cast<std::int64_t>(all.size() * sizeof(float))) throw std::runtime_error(why);
  });
}

}  // namespace dice::runtime
