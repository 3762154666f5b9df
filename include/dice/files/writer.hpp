// The only code that writes files, for programs and for onnx2hpp.
#pragma once

#include "dice/files/error.hpp"
#include "dice/files/place.hpp"
#include "dice/files/unfinished.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dice::files {

/// Writes all of `bytes` to the open file `fd`; returns whether it could. errno says why not.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// A file that appears under its name only when it is complete, and on the disk: after a crash or a loss of power there is
/// either the whole file or what was there before. Until commit() it has a random name in the same folder; without
/// commit() it is removed. Links are followed; a device, a pipe and an open file (/dev/stdout) are written directly.
///
/// All members throw error.
class writer {
 public:
  enum class keeps { nothing, partial };
  /// What keeps::partial adds to the name.
  static constexpr const char* partial_suffix = ".partial";

  /// With keeps::partial the name until commit() is `path` and ".partial", and the file stays there without commit(). Then
  /// a file of that name must not exist yet.
  [[gnu::cold]] explicit writer(const std::string& path, keeps what = keeps::nothing) : shown_(path), at_(place_of(path)) {
    if (const auto why = obstacle(at_); !why.empty()) fail(why);
    if (at_.kind == place::kinds::special) {
      fd_ = at_.descriptor >= 0 ? ::fcntl(at_.descriptor, F_DUPFD_CLOEXEC, 0)
                                : ::open(at_.path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
      if (fd_ < 0) fail(errno);
      return;
    }
    if (what == keeps::partial) open_temporary(at_.path + partial_suffix);
    for (int i = 0; fd_ < 0 && what == keeps::nothing && i < 100; ++i) {
      const auto name = random_name();
      mark_.emplace(name);
      open_temporary(name);
      if (fd_ >= 0) mark_->created();
      else if (errno != EEXIST) break;
    }
    if (fd_ < 0) fail_to_open(what, errno);
    if (at_.kind == place::kinds::regular) ::fchmod(fd_, at_.permissions);
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() {
    if (fd_ >= 0) ::close(fd_);
    if (mark_ && !temporary_.empty()) ::unlink(temporary_.c_str());
  }

  const std::string& path() const { return shown_; }
  /// Whether the file is written directly, and what was written can be neither replaced nor taken back.
  bool is_direct() const { return at_.kind == place::kinds::special; }
  /// The name until commit().
  const std::string& temporary() const { return temporary_; }

  void write(std::string_view bytes) {
    if (!write_all(fd_, bytes)) fail(errno);
  }
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  /// Replaces bytes that were written, from byte `at` on.
  void overwrite(std::int64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(n < 0 ? errno : EIO);
      at += n;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Frees the disk space behind the first `bytes` of an unfinished file, where that is possible.
  void cut(std::int64_t bytes) {
    if (!is_direct()) static_cast<void>(!::ftruncate(fd_, static_cast<off_t>(bytes)));
  }
  /// Removes the file after commit(), unless there was one before.
  void undo() {
    if (at_.kind == place::kinds::nothing) ::unlink(at_.path.c_str());
  }
  /// Removes the file without commit(), even one of keeps::partial.
  void discard() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }
  /// Waits until the disk has all that was written, and closes the file. Shows errors that the system reports late, as with
  /// NFS and quotas.
  void finish() {
    if (fd_ < 0) return;
    // Pipes and most devices have no disk to wait for.
    if (::fsync(fd_) != 0 && !(is_direct() && (errno == EINVAL || errno == EROFS || errno == ENOTSUP))) fail(errno);
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0 && errno != EINTR) fail(errno);
  }
  /// Gives the file its name without waiting for the disk: for files that are soon replaced. Those who read it see a whole
  /// file, but after a loss of power it may be damaged.
  void replace() {
    const int fd = fd_;
    fd_ = -1;
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail(errno);
    if (is_direct()) return;
    if (::rename(temporary_.c_str(), at_.path.c_str()) != 0) fail(errno);
    temporary_.clear();
  }
  /// finish(); then gives the file its name.
  void commit() {
    finish();
    replace();
    if (is_direct()) return;
    // The name, too, must survive a loss of power. If a file system cannot do this for folders, nothing more can be done.
    if (const int folder = ::open(folder_of(at_.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
      ::fsync(folder);
      ::close(folder);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw error("'" + shown_ + "' cannot be written: " + why); }
  [[noreturn]] void fail(int why) const { fail(std::strerror(why)); }
  [[noreturn]] void fail_to_open(keeps what, int why) const {
    if (what == keeps::partial && why == EEXIST)
      throw error("'" + at_.path + partial_suffix +
                  "' exists already: the results of a run that was killed, or of one that still "
                  "runs; move it, delete it, or name another file");
    fail(why);
  }

  void open_temporary(std::string name) {
    temporary_ = std::move(name);
    fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ < 0) temporary_.clear();
  }
  /// Nobody can guess it, and processes with the same number in different containers do not share it.
  [[gnu::cold]] std::string random_name() const {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) fail(errno);
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[number >> shift & 15];
    return folder_of(at_.path) + "." + name_of(at_.path).substr(0, 200) + "." + digits + ".tmp";
  }

  const std::string shown_;
  const place at_;
  std::string temporary_;
  std::optional<unfinished_file> mark_;
  int fd_ = -1;
};

/// The use of `path` until a writer of keeps::partial commits.
inline use partial_use(const std::string& path) {
  const auto at = place_of(path);
  return at.kind == place::kinds::special ? use{path, true} : writes(at.path + writer::partial_suffix);
}

/// Writes a file of this text. Throws error.
inline void write_text(const std::string& path, std::string_view text) {
  writer out(path);
  out.write(text);
  out.commit();
}

/// Commits files that belong together, in this order: if one cannot get its name, none is left of those that were not there
/// before. Throws error.
inline void commit_all(std::span<const std::unique_ptr<writer>> all) {
  for (const auto& file : all) file->finish();
  std::size_t done = 0;
  try {
    for (; done < all.size(); ++done) all[done]->commit();
  } catch (...) {
    while (done > 0) all[--done]->undo();
    throw;
  }
}

/// Throws error if the file `path` cannot be written, as far as can be known without writing.
[[gnu::cold]] inline void require_writable(const std::string& path) {
  if (const auto why = obstacle(place_of(path)); !why.empty()) throw error("'" + path + "' cannot be written: " + why);
}

}  // namespace dice::files
