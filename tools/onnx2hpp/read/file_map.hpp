#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace onnx2hpp {

/// A file mapped for reading.
class file_map {
 public:
  /// Throws file_error when `path` cannot be read or is not a regular file.
  explicit file_map(const std::filesystem::path& path);
  file_map(const file_map&) = delete;
  file_map& operator=(const file_map&) = delete;
  ~file_map();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace onnx2hpp
