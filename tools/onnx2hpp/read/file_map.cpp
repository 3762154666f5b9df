#include "read/file_map.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace onnx2hpp {

namespace {

struct descriptor {
  int fd;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void fail(const std::filesystem::path& path, const char* why) {
  throw file_error(fmt::format("cannot read {}: {}", quote(path.string()), why));
}

}  // namespace

bool is_lfs_pointer(std::span<const std::byte> bytes) {
  constexpr std::string_view start = "version https://git-lfs.github.com/spec/";
  return bytes.size() > start.size() && std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

file_map::file_map(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, "it is not a regular file");
  if (status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED) fail(path, std::strerror(errno));
  bytes_ = {static_cast<const std::byte*>(at), size};
}

file_map::~file_map() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace onnx2hpp
