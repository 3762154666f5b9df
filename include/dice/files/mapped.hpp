#pragma once

#include "dice/files/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace dice::files {

/// A part of a file mapped read-only; the destructor unmaps it. Movable.
class mapped {
 public:
  mapped() = default;
  mapped(void* at, std::size_t bytes) : at_(at), bytes_(bytes) {}
  mapped(mapped&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
  mapped& operator=(mapped&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapped() {
    if (at_) ::munmap(at_, bytes_);
  }
  const std::byte* data() const { return static_cast<const std::byte*>(at_); }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A regular file, open for reading. Its errors begin with `what` ("weights file"), if it is not empty.
class opened {
 public:
  /// Throws error; its text has `remedy` if `path` is not a regular file, and ends with `why` if it cannot be opened.
  [[gnu::cold]] opened(const char* what, std::string path, const std::string& remedy, const std::string& why = {})
      : what_(*what ? std::string(what) + " " : ""), path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
    if (fd_ < 0) fail(std::string("cannot be opened: ") + std::strerror(errno) + why);
    struct stat s {};
    const bool known = ::fstat(fd_, &s) == 0;
    const std::string problem = known ? "" : std::strerror(errno);
    if (known && S_ISREG(s.st_mode)) {
      size_ = s.st_size;
      return;
    }
    ::close(fd_);
    fail(known ? "is not a regular file; " + remedy : "cannot be read: " + problem);
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() { ::close(fd_); }

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }

  [[noreturn]] void fail(const std::string& why) const { throw error(what_ + "'" + path_ + "' " + why); }

  /// Reads bytes [from, from + bytes). Returns whether all of them could be read.
  bool read(void* to, std::size_t bytes, std::int64_t from) const {
    for (std::size_t done = 0; done < bytes;) {
      const auto n = ::pread(fd_, static_cast<char*>(to) + done, bytes - done, from + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

  /// Whether the pages of a mapping are read ahead.
  enum class pages { soon, when_used };

  /// Maps bytes [from, to), extended to whole pages. Sets `start` to where `from` lies. Throws error.
  mapped map(std::int64_t from, std::int64_t to, const std::byte*& start, pages when = pages::soon) const {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE), skip = from % page;
    const auto bytes = static_cast<std::size_t>(to - from + skip);
    void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(from - skip));
    if (at == MAP_FAILED) fail(std::string("cannot be mapped: ") + std::strerror(errno));
    ::madvise(at, bytes, MADV_HUGEPAGE);  // a hint: where the file system supports it, faults and lookups get fewer
    if (when == pages::soon) ::madvise(at, bytes, MADV_WILLNEED);
    mapped out(at, bytes);
    start = out.data() + skip;
    return out;
  }

 private:
  const std::string what_;
  std::string path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace dice::files
