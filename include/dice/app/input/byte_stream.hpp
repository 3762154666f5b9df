// Where the bytes of a stream come from: the standard input, a named pipe, a command.
#pragma once

#include "dice/files/error.hpp"
#include "dice/meta/clock.hpp"
#include "dice/text/foreign.hpp"
#include "dice/this_host/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dice::app {

/// What a stream is read from.
struct stream_origin {
  enum class kinds : unsigned char { standard_input, pipe, command };
  kinds kind = kinds::standard_input;
  std::string what{};   ///< the pipe's path, or the command
  std::string shown{};  ///< in its place in messages: a URL may hold a password

  /// For messages: "the standard input", "the pipe '/tmp/frames'", "the source 'cat frames'".
  std::string name() const {
    if (kind == kinds::standard_input) return "the standard input";
    return (kind == kinds::pipe ? "the pipe '" : "the source '") + text::shown(shown.empty() ? what : shown) + "'";
  }
};

/// The bytes of a stream, from open() to close(), and again.
class byte_stream {
 public:
  explicit byte_stream(stream_origin from) : from_(std::move(from)) {}
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;
  ~byte_stream() { close(); }

  const stream_origin& origin() const { return from_; }

  /// Starts the command; a pipe waits for a writer when it is read. Throws files::error.
  void open() {
    switch (from_.kind) {
      case stream_origin::kinds::standard_input:
        fd_ = STDIN_FILENO;
        return;
      case stream_origin::kinds::pipe:
        fd_ = ::open(from_.what.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd_ < 0) throw files::error(from_.name() + " cannot be opened: " + std::strerror(errno));
        return;
      case stream_origin::kinds::command:
        command_ = std::make_unique<this_host::command>(from_.what, this_host::command::pipe_to::output);
        fd_ = command_->pipe();
    }
  }
  /// Ends the command, if it has not ended within `patience`. Returns how a command has ended that was running.
  std::optional<this_host::command_end> close(std::chrono::milliseconds patience = {}) {
    const int fd = std::exchange(fd_, -1);
    if (from_.kind == stream_origin::kinds::pipe && fd >= 0) ::close(fd);
    if (!command_) return {};
    const auto out = command_->end(patience);
    command_.reset();
    return out;
  }

  enum class outcome { done, ended, late, unwanted };
  /// Reads so many bytes to `to`, and counts in `at` how many came. Stops early where the stream ends, at the time `until`
  /// (meta::now()), and when unwanted() returns true. Throws files::error.
  template <class Unwanted>
  outcome read(char* to, std::size_t bytes, std::size_t& at, std::int64_t until, const Unwanted& unwanted) {
    for (at = 0; at < bytes;) {
      pollfd in{fd_, POLLIN, 0};
      for (int n = 0; (n = ::poll(&in, 1, 100)) == 0 || (n < 0 && errno == EINTR);) {
        if (unwanted()) return outcome::unwanted;
        if (meta::now() >= until) return outcome::late;
      }
      const auto n = ::read(fd_, to + at, bytes - at);
      if (n < 0 && errno != EINTR && errno != EAGAIN)
        throw files::error(from_.name() + " cannot be read: " + std::strerror(errno));
      if (n == 0) return outcome::ended;
      at += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      if (at == bytes) break;  // of a slow source, some bytes may come again and again before there is a frame
      if (unwanted()) return outcome::unwanted;
      if (meta::now() >= until) return outcome::late;
    }
    return outcome::done;
  }

 private:
  const stream_origin from_;
  std::unique_ptr<this_host::command> command_;
  int fd_ = -1;
};

}  // namespace dice::app
