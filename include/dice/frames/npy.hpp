// .npy files. They are read and written here, since xtensor's own reader (0.24) misjudges the length of headers of 128 bytes
// and more, accepts truncated files, allocates whatever the header says, and costs every program 2 s of compile time.
#pragma once

#include "dice/files/mapped.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/shape_remedy.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::frames {

/// Where the numbers of a .npy file begin, from its first 12 bytes.
inline std::int64_t npy_header_bytes(const unsigned char* head) {
  std::int64_t length = head[8] | head[9] << 8;
  if (head[6] == 1) return 10 + length;
  length |= static_cast<std::int64_t>(head[10]) << 16 | static_cast<std::int64_t>(head[11]) << 24;
  return 12 + length;
}

namespace detail {

struct npy_header {
  std::string type;  ///< as written: "<f4"
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0, bytes = 0;  ///< where the data begins, and how much of it there is
};

/// The text behind `'key':` in the dictionary of a header, without blanks before it; empty unless it is there once.
inline std::string_view value_of(std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos || header.find("'" + std::string(key) + "'", at + 1) != std::string_view::npos) return {};
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
  if (kind.empty() || std::from_chars(code.data() + 2, end, bytes).ptr != end || bytes < 1 || bytes > 32) {
    std::string as_written(code.substr(0, 20));
    for (char& c : as_written) c = c >= ' ' && c <= '~' ? c : '?';
    return "'" + as_written + "'";
  }
  return (code[0] == '>' ? "big-endian " : "") + kind + std::to_string(8 * bytes);
}

/// Reads the header of the file `in`; throws files::error.
[[gnu::cold]] inline npy_header read_npy_header(const files::opened& in) {
  unsigned char head[12] = {};
  if (in.size() < 10 || !in.read(head, std::min<std::size_t>(12, in.size()), 0) || std::memcmp(head, "\x93NUMPY", 6) != 0)
    in.fail("is not a .npy file; write it with numpy.save");
  const int version = head[6];
  if (version != 1 && version != 2)
    in.fail("is of .npy version " + std::to_string(version) + ", which dice does not read; write it with numpy.save");
  const std::int64_t begin = version == 1 ? 10 : 12, length = npy_header_bytes(head) - begin;
  if (length > (1 << 20) || begin + length > in.size()) in.fail("is cut short or damaged: its header does not fit in it");
  std::string text(static_cast<std::size_t>(length), ' ');
  if (!in.read(text.data(), text.size(), begin)) in.fail("cannot be read");

  npy_header out;
  out.data = begin + length;
  out.bytes = in.size() - out.data;
  const auto type = value_of(text, "descr"), order = value_of(text, "fortran_order"), shape = value_of(text, "shape");
  if (type.size() < 2 || type[0] != '\'' || type.find('\'', 1) == std::string_view::npos)
    in.fail("holds records, not one tensor; write the tensor with numpy.save");
  out.type = type.substr(1, type.find('\'', 1) - 1);
  out.fortran = order.substr(0, 4) == "True";
  if (!out.fortran && order.substr(0, 5) != "False") in.fail("is damaged: its header states no order of the elements");
  const auto close = shape.find(')');
  if (shape.empty() || shape[0] != '(' || close == std::string_view::npos) in.fail("is damaged: its header states no shape");
  const auto skip = [](std::string_view& rest, const char* what) {
    const auto n = std::min(rest.find_first_not_of(what), rest.size());
    rest.remove_prefix(n);
    return n;
  };
  bool more = true;  // each extent but the last needs a comma
  auto rest = shape.substr(1, close - 1);
  for (skip(rest, " "); !rest.empty(); skip(rest, " ")) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0 || !more || out.shape.size() == 32)
      in.fail("is damaged: its header states no shape");
    out.shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    skip(rest, " L");
    more = !rest.empty() && rest[0] == ',';
    if (more) rest.remove_prefix(1);
  }
  return out;
}

/// What to do about numbers of type `code` in frames, or in expected results, that should have the type `wanted`.
[[gnu::cold]] inline std::string type_remedy(std::string_view code, bool results, dice::tensor::number wanted) {
  const auto convert =
      "save it with .astype(np." + (wanted == dice::tensor::number::boolean ? "bool_" : frames::type_name(wanted)) + ")";
  if (code == "|O")
    return "its elements are Python objects, no numbers: join arrays of one shape, and save "
           "np.stack(list(A)).astype(np.float32)";
  if (wanted != dice::tensor::number::float32 && !results)
    return "save the same numbers as " + frames::type_name(wanted) + " or float32 (NumPy: x.astype(np.float32))";
  if (code != "|u1" || results) return convert;
  return convert + " / 255 if the model takes pictures from 0 to 1, or normalised as the model expects";
}

}  // namespace detail

/// The number of frames of shape `one` in a tensor of shape `found` and type `code` ("<f4"), which should be `wanted`, as
/// read_frames says; `fail`, which must throw, is called with what is wrong.
template <class Fail>
[[gnu::cold]] std::int64_t require_frames(const std::vector<std::int64_t>& found, std::string_view code,
                                          const dice::tensor::shape& one, const std::string& what, bool results, Fail fail,
                                          dice::tensor::number wanted = {}) {
  std::vector<std::int64_t> extents(one.dim, one.dim + one.rank);
  if (extents.empty()) extents.push_back(1);
  const auto expected = what + " is " + type_name(wanted) + " " +
                        shape_text(extents, extents[0] == 1 ? "N" : "N·" + std::to_string(extents[0]));
  const auto holds = "holds " + detail::type_name(code) + " " + shape_text(found);
  if (code != npy_code(wanted)) fail(holds + "; " + expected + ": " + detail::type_remedy(code, results, wanted));
  const auto frames = frames_in(found, one);
  if (frames < 0)
    fail(holds + "; " + expected +
         ", N ≥ 1 frames: " + (results ? "give the expected results as --output writes them" : shape_remedy(found, one)));
  if (frames == 0) fail(holds + ", no frame; " + expected + ", N ≥ 1 frames");
  return frames;
}

namespace detail {

/// An open .npy file that holds frames of shape `one` in the type `as`, as read_frames says, and its header; `results`:
/// expected results rather than frames to compute; frames may also be float32. Throws files::error.
struct npy_file {
  files::opened in;
  npy_header header;
  dice::tensor::number type;
  bool is_result;

  [[gnu::cold]] npy_file(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                         bool results = false, dice::tensor::number as = {})
      : in("", regular(path), "", " (" + what + ")"),
        header(read_npy_header(in)),
        type(!results && header.type == npy_code({}) ? dice::tensor::number{} : as),
        is_result(results) {
    if (header.shape.empty() && one.rank < 2 && one.elements() == 1) header.shape = {1};  // numpy.save of a number
    const auto& h = header;
    const auto frames = require_frames(
        h.shape, h.type, one, what, results, [&](const std::string& why) { in.fail(why); }, type);
    const auto bytes = size_of(type), frame_bytes = one.elements() * bytes;
    if (frames > INT64_MAX / 2 / frame_bytes || h.bytes != frames * frame_bytes)
      in.fail("is cut short or damaged: " + std::to_string(h.bytes) + " bytes of data, its header states " +
              shape_text(h.shape) + " of " + std::to_string(bytes) + " bytes each; write it again");
  }

  /// All of its numbers, in C order.
  [[gnu::cold]] tensor read() const {
    try {
      using dice::tensor::number;
      const auto as = type == number::boolean ? number::uint8 : type;  // damaged files may have bytes other than 0 and 1
      return dice::tensor::with_type_of(as, [&]<class T>(T) { return floats<T>(); });
    } catch (const std::bad_alloc&) {
      in.fail("does not fit into memory: " + std::to_string(header.bytes) + " bytes");
    }
  }

 private:
  static const std::string& regular(const std::string& path) {
    if (files::is_special(path)) throw files::error("'" + path + "' is a folder, a pipe or a device, not a .npy file");
    return path;
  }
  /// The file's numbers of type T. Not in the lambda above: clang 14 would not instantiate xtensor's functions there.
  template <class T> tensor floats() const {
    if (header.fortran) return floats_of<xt::xarray<T, xt::layout_type::column_major>>();
    return floats_of<xt::xarray<T, xt::layout_type::row_major>>();
  }
  template <class Array> [[gnu::cold]] tensor floats_of() const {
    using T = typename Array::value_type;
    auto all = Array::from_shape(std::vector<std::size_t>(header.shape.begin(), header.shape.end()));
    if (!in.read(all.data(), static_cast<std::size_t>(header.bytes), header.data)) in.fail("cannot be read");
    if constexpr (!std::same_as<T, float>)
      for (const T n : all)
        if (as_number<T>(static_cast<float>(n)) != n)
          in.fail("holds " + std::to_string(n) + ", which " +
                  (is_result ? "no result can be: networks compute in float32"
                             : "float32 does not hold, in which networks compute"));
    tensor out(std::move(all));
    if (type == dice::tensor::number::boolean && !is_result)
      for (float& x : out) x = x != 0;
    return out;
  }
};

/// What comes before the numbers in a file of shape `shape`: a multiple of 64 bytes, the same for every leading dimension.
inline std::string npy_start(std::vector<std::size_t> shape, dice::tensor::number as) {
  const auto dictionary = [as](const std::vector<std::size_t>& of) {
    return "{'descr': '" + std::string(npy_code(as)) + "', 'fortran_order': False, 'shape': " + shape_text(of) + ", }";
  };
  auto text = dictionary(shape);
  if (!shape.empty()) shape[0] = SIZE_MAX;  // the widest
  text.resize((dictionary(shape).size() + 10 + 64) / 64 * 64 - 11, ' ');
  text += '\n';
  const char size[] = {static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return "\x93NUMPY\x01" + std::string(1, '\0') + std::string(size, 2) + text;
}

}  // namespace detail

/// Reads a .npy file that holds frames of shape `one` joined along the leading dimension: float32 or the type `as`,
/// little-endian. `what` says what they are for ("input 'image'"). Throws files::error, also if there is no frame.
[[gnu::cold]] inline tensor read_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                                        dice::tensor::number as = {}) {
  return detail::npy_file(path, one, what, false, as).read();
}

/// The same for expected results, in the type `as`.
[[gnu::cold]] inline tensor read_results(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                                         dice::tensor::number as = {}) {
  return detail::npy_file(path, one, what, true, as).read();
}

/// The frames of such a file, mapped: a page is read when its frame is needed, and need not stay in memory. Files in Fortran
/// order or of a type other than float32 are read as a whole.
class mapped_frames {
 public:
  [[gnu::cold]] mapped_frames(const std::string& path, const dice::tensor::shape& one, const std::string& what,
                              dice::tensor::number as = {}) {
    const detail::npy_file file(path, one, what, false, as);
    const auto& h = file.header;
    elements_ = h.bytes / size_of(file.type);
    if (file.type != dice::tensor::number::float32 || h.fortran || h.data % static_cast<std::int64_t>(alignof(float)) != 0) {
      data_ = read_.emplace(file.read()).data();
      return;
    }
    const std::byte* start = nullptr;
    pages_ = file.in.map(h.data, h.data + h.bytes, start, files::opened::pages::when_used);
    data_ = reinterpret_cast<const float*>(start);
  }
  mapped_frames(const mapped_frames&) = delete;
  mapped_frames& operator=(const mapped_frames&) = delete;

  std::span<const float> numbers() const { return {data_, static_cast<std::size_t>(elements_)}; }

 private:
  files::mapped pages_;
  std::optional<tensor> read_;
  const float* data_ = nullptr;
  std::int64_t elements_ = 0;
};

/// Writes a .npy file in the type `as`, in C order. Throws files::error; a failure leaves no file.
inline void write_npy(const std::string& path, const tensor& all, dice::tensor::number as = {}) {
  files::writer out(path);
  out.write(detail::npy_start({all.shape().begin(), all.shape().end()}, as));
  write_as(as, {all.data(), all.size()}, [&](std::span<const std::byte> bytes) { out.write(bytes); });
  out.commit();
}

}  // namespace dice::frames
