#include "emit/pending_file.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace onnx2hpp {

pending_file::pending_file(const std::filesystem::path& path) : path_(path) {
  if (std::filesystem::is_directory(path_)) fail(EISDIR);
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    throw file_error(fmt::format("cannot write {}: it is a device or a pipe, and would be replaced", quote(path_.string())));
  // A killed run with the same process id may have left a temporary file.
  for (int k = 0; k < 100 && fd_ < 0; ++k) {
    temporary_ = path_.parent_path() / fmt::format(".{}.{}-{}.tmp", path_.filename().string(), ::getpid(), k);
    marked_.emplace(temporary_.string());
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
}

pending_file::~pending_file() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void pending_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void pending_file::overwrite(std::uint64_t offset, std::string_view text) {
  const auto n = ::pwrite(fd_, text.data(), text.size(), static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(text.size())) fail(n < 0 ? errno : EIO);
}

void pending_file::close() {
  const int fd = fd_;
  fd_ = -1;
  if (fd >= 0 && ::close(fd) != 0) fail(errno);
}

void pending_file::commit() {
  close();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void pending_file::fail(int error) const {
  throw file_error(fmt::format("cannot write {}: {}", quote(path_.string()), std::strerror(error)));
}

}  // namespace onnx2hpp
