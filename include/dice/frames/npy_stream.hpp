#pragma once

#include "dice/files/error.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/shape.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dice::frames {

/// A .npy file of frames whose number is known only at the end. It grows under its name and ".partial", and is a valid file
/// after each frame; a run that is killed leaves it there. For a device or a pipe, which takes the number of frames first,
/// the frames wait in an unnamed file in /tmp.
class npy_stream {
 public:
  /// For frames of shape `one` in the type `as`. Throws files::error.
  npy_stream(const std::string& path, const dice::tensor::shape& one, dice::tensor::number as = {})
      : one_(one), as_(as), file_(path, files::writer::keeps::partial), waiting_(nullptr, std::fclose) {
    if (!file_.is_direct()) {
      file_.write(start());
      return;
    }
    waiting_.reset(std::tmpfile());
    if (!waiting_) fail();
  }
  npy_stream(const npy_stream&) = delete;
  npy_stream& operator=(const npy_stream&) = delete;
  ~npy_stream() {
    if (frames_ == 0) file_.discard();
  }

  /// Adds a frame. Throws files::error.
  void add(const float* frame) {
    const std::span numbers(frame, static_cast<std::size_t>(one_.elements()));
    if (waiting_) {
      write_as(as_, numbers, [&](std::span<const std::byte> bytes) {
        if (std::fwrite(bytes.data(), 1, bytes.size(), waiting_.get()) != bytes.size()) fail();
      });
      ++frames_;
      return;
    }
    try {
      write_as(as_, numbers, [&](std::span<const std::byte> bytes) { file_.write(bytes); });
    } catch (...) {
      const auto one = static_cast<std::int64_t>(numbers.size()) * size_of(as_);
      file_.cut(static_cast<std::int64_t>(start().size()) + one * frames_);
      throw;
    }
    ++frames_;
    file_.overwrite(0, start());
  }
  std::int64_t frames() const { return frames_; }
  /// Where the frames are until finish(); empty for a device or a pipe.
  const std::string& temporary() const { return file_.temporary(); }

  /// Gives the file its name. Throws files::error.
  void finish() {
    if (waiting_) {
      if (std::fflush(waiting_.get()) != 0) fail();  // rewind() would not tell
      std::rewind(waiting_.get());
      file_.write(start());
      char block[4096];
      while (const auto n = std::fread(block, 1, sizeof block, waiting_.get())) file_.write(std::string_view(block, n));
      if (std::ferror(waiting_.get())) fail();
    }
    file_.commit();
  }

 private:
  [[noreturn]] void fail() const {
    const std::string why = std::strerror(errno);
    throw files::error("'" + file_.path() + "' cannot be written: for a device or a pipe, the results wait in " + P_tmpdir +
                       " until the stream ends, and that is not possible: " + why + "; name a regular file");
  }
  std::string start() const { return detail::npy_start(stacked(one_, frames_), as_); }

  const dice::tensor::shape one_;
  const dice::tensor::number as_;
  files::writer file_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> waiting_;
  std::int64_t frames_ = 0;
};

}  // namespace dice::frames
