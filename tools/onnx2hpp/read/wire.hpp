// ONNX files without copying their tensors: protobuf's own parser copies every raw_data, 574 MB for VGG-19.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace onnx2hpp {

/// Stands for the bytes of a tensor in a skeleton: they lie at `offset` in the file.
struct blob {
  std::uint64_t offset = 0, size = 0;
};

/// The serialised ModelProto `file` with each raw_data (and long packed float_data, double_data) replaced by the 16 bytes of
/// a `blob` as raw_data; training information and metadata are left out. Throws file_error if `file` is damaged.
std::string skeleton(std::span<const std::byte> file);

/// Reads what skeleton() wrote; false if `raw_data` is not a blob.
bool read_blob(const std::string& raw_data, blob& out);

}  // namespace onnx2hpp
