#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace onnx2hpp {

/// Whether these are the bytes of a pointer, which git leaves in place of a large file that git-lfs has not fetched.
bool is_lfs_pointer(std::span<const std::byte> bytes);

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
