#include "read/wire.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <optional>

namespace onnx2hpp {

static_assert(std::endian::native == std::endian::little, "ONNX stores tensors little-endian; so must this machine");

namespace {

enum wire_type : unsigned { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

/// Messages of onnx.proto that lead to a TensorProto.
enum class message { model, graph, node, attribute, function, tensor, sparse_tensor, other };

/// The kind of message in field `number` of message `m`.
message child(message m, std::uint32_t number) {
  switch (m) {
    case message::model:
      return number == 7 ? message::graph : number == 25 ? message::function : message::other;
    case message::graph:
      return number == 1    ? message::node
             : number == 5  ? message::tensor
             : number == 15 ? message::sparse_tensor
                            : message::other;
    case message::node:
      return number == 5 ? message::attribute : message::other;
    case message::attribute:
      switch (number) {
        case 5:
        case 10:
          return message::tensor;
        case 6:
        case 11:
          return message::graph;
        case 22:
        case 23:
          return message::sparse_tensor;
        default:
          return message::other;
      }
    case message::function:
      return number == 7 ? message::node : number == 11 ? message::attribute : message::other;
    case message::sparse_tensor:
      return number == 1 || number == 2 ? message::tensor : message::other;
    default:
      return message::other;
  }
}

/// Fields that conversion never reads: training information, metadata and documentation.
bool useless(message m, std::uint32_t number) {
  return (m == message::model && (number == 6 || number == 14 || number == 20)) ||
         (m == message::graph && (number == 10 || number == 16)) || (m == message::node && (number == 6 || number == 9));
}

struct field {
  std::uint32_t number = 0;
  unsigned type = 0;
  std::uint64_t value = 0;        ///< of a varint
  std::size_t begin = 0;          ///< of the whole field
  std::size_t body = 0, end = 0;  ///< of what it holds
};

class walker {
 public:
  explicit walker(std::span<const std::byte> file) : file_(file) {}

  std::string rewrite(message m, std::size_t begin, std::size_t end, int depth) const {
    // A message deeper than that is not a model; protobuf's parser has the same limit.
    if (depth > 100) damaged(begin, "messages are nested too deeply");
    if (m == message::tensor) return rewrite_tensor(begin, end);
    std::string out;
    for (std::size_t at = begin; at < end;) {
      const field f = read(at, end);
      at = f.end;
      if (useless(m, f.number)) continue;
      const message inner = f.type == delimited ? child(m, f.number) : message::other;
      if (inner == message::other) copy(out, f);
      else append(out, f.number, rewrite(inner, f.body, f.end, depth + 1));
    }
    return out;
  }

 private:
  static constexpr std::uint32_t data_type = 2, float_data = 4, raw_data = 9, double_data = 10, doc_string = 12;
  static constexpr std::uint64_t type_float = 1, type_double = 11;
  static constexpr std::size_t long_data = 4096;

  std::string rewrite_tensor(std::size_t begin, std::size_t end) const {
    std::uint64_t type = 0;
    bool raw = false;
    int chunks = 0;
    for (std::size_t at = begin; at < end;) {
      const field f = read(at, end);
      at = f.end;
      if (f.number == data_type && f.type == varint) type = f.value;
      if (f.number == raw_data) raw = true;
      if (f.number == float_data || f.number == double_data) ++chunks;
    }
    // One packed chunk holds the same bytes as raw_data would.
    const std::uint32_t packed = raw || chunks != 1    ? 0
                                 : type == type_float  ? float_data
                                 : type == type_double ? double_data
                                                       : 0;
    std::string out;
    for (std::size_t at = begin; at < end;) {
      const field f = read(at, end);
      at = f.end;
      if (f.number == doc_string) continue;
      const bool moved = f.type == delimited && (f.number == raw_data || (f.number == packed && f.end - f.body > long_data));
      if (!moved) {
        copy(out, f);
        continue;
      }
      const blob b{f.body, f.end - f.body};
      append(out, raw_data, std::string(reinterpret_cast<const char*>(&b), sizeof b));
    }
    return out;
  }

  std::uint64_t read_varint(std::size_t& at, std::size_t end) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at >= end) damaged(at, "a number ends too early");
      const auto b = static_cast<std::uint64_t>(file_[at++]);
      value |= (b & 127) << shift;
      if (b < 128) return value;
    }
    damaged(at, "a number is too long");
  }

  field read(std::size_t at, std::size_t end) const {
    field f{.begin = at};
    const std::uint64_t key = read_varint(at, end);
    f.number = static_cast<std::uint32_t>(key >> 3);
    f.type = static_cast<unsigned>(key & 7);
    if (key >> 3 == 0 || key >> 3 >= 1u << 29) damaged(f.begin, "a field has an impossible number");
    f.body = at;
    std::uint64_t size = 0;
    switch (f.type) {
      case varint:
        f.value = read_varint(at, end);
        break;
      case fixed64:
        size = 8;
        break;
      case fixed32:
        size = 4;
        break;
      case delimited:
        size = read_varint(at, end);
        f.body = at;
        break;
      default:
        damaged(f.begin, "a field has an unknown type");
    }
    if (size > end - at) damaged(f.begin, "a field is longer than the message that contains it");
    f.end = at + static_cast<std::size_t>(size);
    return f;
  }

  void copy(std::string& out, const field& f) const {
    out.append(reinterpret_cast<const char*>(file_.data()) + f.begin, f.end - f.begin);
  }

  static void append(std::string& out, std::uint32_t number, const std::string& body) {
    append_varint(out, std::uint64_t{number} << 3 | delimited);
    append_varint(out, body.size());
    out += body;
  }

  static void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 128; value >>= 7) out += static_cast<char>((value & 127) | 128);
    out += static_cast<char>(value);
  }

  [[noreturn]] void damaged(std::size_t at, const char* why) const {
    throw file_error(fmt::format("it is not an ONNX model, or it is damaged: {} (at byte {} of {})", why, at, file_.size()));
  }

  std::span<const std::byte> file_;
};

}  // namespace

std::string skeleton(std::span<const std::byte> file) { return walker(file).rewrite(message::model, 0, file.size(), 0); }

bool read_blob(const std::string& raw_data, blob& out) {
  if (raw_data.size() != sizeof out) return false;
  std::memcpy(&out, raw_data.data(), sizeof out);
  return true;
}

}  // namespace onnx2hpp
