#pragma once

#include "dice/runtime/npy.hpp"
#include "dice/runtime/tensor.hpp"
#include "dice/tensor/shape.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// A .npy file of frames whose number is known only at the end. Until then they are in an unlinked file in the same folder
/// (/tmp if the file is a device or a pipe), so that a run that ends early leaves nothing behind.
class npy_spool {
 public:
  /// For frames of shape `one`. Throws file_error.
  npy_spool(std::string path, const dice::tensor::shape& one)
      : path_(std::move(path)), one_(one), file_(nullptr, std::fclose) {
    const auto temporary = path_ + ".tmp" + std::to_string(::getpid());
    file_.reset(is_special(path_) ? std::tmpfile() : std::fopen(temporary.c_str(), "w+b"));
    if (!file_) fail();
    if (!is_special(path_)) std::remove(temporary.c_str());
  }

  /// Adds a frame. Throws file_error.
  void add(const float* frame) {
    const auto n = static_cast<std::size_t>(one_.elements());
    if (std::fwrite(frame, sizeof(float), n, file_.get()) != n) fail();
    ++frames_;
  }

  /// Writes the file, as write_npy does. Throws file_error.
  void finish() {
    if (std::fflush(file_.get()) != 0) fail();
    std::rewind(file_.get());
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape_text(stacked(one_, frames_)) + ", }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');  // so that all before the data is a multiple of 64
    header += '\n';
    const char size[] = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    header = "\x93NUMPY\x01" + std::string(1, '\0') + std::string(size, 2) + header;
    replace_file(path_, [&](const std::string& temporary) {
      errno = 0;
      std::ofstream out(temporary, std::ios::binary);
      out << header;
      std::vector<char> block(1 << 20);
      for (std::size_t n; out && (n = std::fread(block.data(), 1, block.size(), file_.get())) > 0;)
        out.write(block.data(), static_cast<std::streamsize>(n));
      out.close();
      if (!out || std::ferror(file_.get())) throw std::runtime_error(errno ? std::strerror(errno) : "unknown reason");
    });
  }

 private:
  [[noreturn]] void fail() const { throw file_error("'" + path_ + "' cannot be written: " + std::strerror(errno)); }

  const std::string path_;
  const dice::tensor::shape one_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::int64_t frames_ = 0;
};

}  // namespace dice::runtime
