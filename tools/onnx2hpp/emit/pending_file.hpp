#pragma once

#include "dice/runtime/interrupt.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace onnx2hpp {

/// A file being written under a temporary name in its own folder; unless committed, it leaves no trace.
/// All members throw file_error.
class pending_file {
 public:
  explicit pending_file(const std::filesystem::path& path);
  pending_file(const pending_file&) = delete;
  pending_file& operator=(const pending_file&) = delete;
  ~pending_file();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Replaces bytes written before.
  void overwrite(std::uint64_t offset, std::string_view text);
  /// Closes the file, which shows delayed write errors.
  void close();
  /// Renames the file to its final name.
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_, temporary_;
  std::optional<dice::runtime::unfinished_file> marked_;
  int fd_ = -1;
};

}  // namespace onnx2hpp
