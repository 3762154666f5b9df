#pragma once

#include "dice/graph/network.hpp"
#include "dice/weights/detail/json.hpp"
#include "dice/weights/error.hpp"

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

namespace dice::weights {

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

/// A regular file, open for reading. Its errors begin with `what` ("weights file").
class opened {
 public:
  /// Throws error; its text has `remedy` if `path` is not a regular file.
  opened(const char* what, std::string path, const std::string& remedy) : what_(what), path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
    if (fd_ < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat s {};
    const bool known = ::fstat(fd_, &s) == 0;
    const std::string why = known ? "" : std::strerror(errno);
    if (known && S_ISREG(s.st_mode)) {
      size_ = s.st_size;
      return;
    }
    ::close(fd_);
    fail(known ? "is not a regular file; " + remedy : "cannot be read: " + why);
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() { ::close(fd_); }

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }

  [[noreturn]] void fail(const std::string& why) const { throw error(std::string(what_) + " '" + path_ + "' " + why); }

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

  /// Maps bytes [from, to), extended to whole pages. Sets `start` to where `from` lies. Throws error.
  mapped map(std::int64_t from, std::int64_t to, const std::byte*& start) const {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE), skip = from % page;
    const auto bytes = static_cast<std::size_t>(to - from + skip);
    void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(from - skip));
    if (at == MAP_FAILED) fail(std::string("cannot be mapped: ") + std::strerror(errno));
    ::madvise(at, bytes, MADV_HUGEPAGE);  // a hint: where the file system supports it, faults and lookups get fewer
    ::madvise(at, bytes, MADV_WILLNEED);
    mapped out(at, bytes);
    start = out.data() + skip;
    return out;
  }

 private:
  const char* what_;
  std::string path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

/// An open weights file whose identity was checked: header sane, digest and size as the network states.
class file {
 public:
  /// Opens `path` for the network `network` whose header states `wanted`. Throws error.
  file(std::string path, std::string_view network, const graph::weights_file& wanted)
      : in_("weights file", std::move(path), "name the .safetensors file that onnx2hpp wrote") {
    check(network, wanted);
  }

  const std::string& path() const { return in_.path(); }
  std::int64_t data_bytes() const { return bytes_; }

  /// Maps bytes [from, to) of the data section, extended to whole pages. Sets `start` to where `from` lies. Throws error.
  mapped map(std::int64_t from, std::int64_t to, const std::byte*& start) const {
    return in_.map(data_ + from, data_ + to, start);
  }

 private:
  static constexpr std::int64_t longest_header = std::int64_t{256} << 20;

  [[noreturn]] void fail(const std::string& why) const { in_.fail(why); }

  [[gnu::cold]] void check(std::string_view network, const graph::weights_file& wanted) {
    const std::int64_t size = in_.size();
    unsigned char length[8];
    if (size < 10 || !in_.read(length, 8, 0))
      fail("is not a safetensors file: it has " + std::to_string(size) + " bytes; take the one that onnx2hpp wrote");
    std::uint64_t header = 0;
    for (int i = 7; i >= 0; --i) header = header << 8 | length[i];
    if (header < 2 || header > static_cast<std::uint64_t>(longest_header))
      fail("is not a safetensors file: its header would have " + std::to_string(header) +
           " bytes; take the one that onnx2hpp wrote");
    if (static_cast<std::int64_t>(header) > size - 8)
      fail("is cut short, or is not a safetensors file: its header should have " + std::to_string(header) +
           " bytes, the file has " + std::to_string(size));
    std::string text(header, '\0');
    if (!in_.read(text.data(), text.size(), 8)) fail(std::string("cannot be read: ") + std::strerror(errno));
    const auto digest = detail::metadata(text, "dice_digest");
    if (!digest) fail("is not a safetensors file: its header is damaged; copy it again, or let onnx2hpp write it again");
    const std::string remedy = "; take the " + std::string(wanted.file) + " that onnx2hpp wrote together with the header";
    if (digest->empty()) fail("was not written by onnx2hpp: its header has no dice_digest" + remedy);
    if (*digest != wanted.digest)
      fail("belongs to another model than the network " + std::string(network) + ": digest " + digest->substr(0, 16) +
           "…, expected " + std::string(wanted.digest.substr(0, 16)) + "…" + remedy);
    data_ = 8 + static_cast<std::int64_t>(header);
    bytes_ = wanted.bytes;
    if (size != data_ + bytes_)
      fail((size < data_ + bytes_ ? "is cut short: " : "is too long: ") + std::to_string(size) + " bytes, expected " +
           std::to_string(data_ + bytes_) + "; copy it again");
    if (data_ % 64) fail("has its data at byte " + std::to_string(data_) + ", not aligned to 64 bytes" + remedy);
  }

  opened in_;
  std::int64_t data_ = 0, bytes_ = 0;
};

}  // namespace dice::weights
