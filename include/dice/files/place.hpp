// Where a path leads: which file it names, whatever the spelling.
#pragma once

#include "dice/files/error.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace dice::files {

/// What a path names once its links are followed.
struct place {
  enum class kinds { nothing, regular, folder, special };
  std::string path;          ///< without a link at its end
  kinds kind{};              ///< special: a device, a pipe, a socket, or a file that is open already (`descriptor`)
  int descriptor = -1;       ///< of this process, for paths such as /dev/stdout; or -1
  unsigned permissions = 0;  ///< of a regular file
  std::string id{};          ///< equal for two paths to one file on this host; empty for devices and pipes
};

/// The folder that holds `path`, with its last slash, or "./".
inline std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}
/// What follows the last slash.
inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

namespace detail {

inline std::string id_of(const struct stat& s) { return std::to_string(s.st_dev) + ':' + std::to_string(s.st_ino); }

/// Equal for two paths that name one entry of one folder.
inline std::string name_id(const std::string& path) {
  struct stat status {};
  const auto folder = folder_of(path);
  return (::stat(folder.c_str(), &status) == 0 ? id_of(status) : folder) + '/' + name_of(path);
}

/// The number of this process's open file that the link `path` in /proc names, or -1.
inline int descriptor_of(const std::string& path) {
  const std::string folder = folder_of(path), name = name_of(path);
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return -1;
  char real[PATH_MAX];
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return -1;
  if (!::realpath(folder.c_str(), real)) return -1;
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/";
  const std::string_view at = real;
  return at.substr(0, own.size()) == own && at.substr(at.size() - 3) == "/fd" ? std::stoi(name) : -1;
}

}  // namespace detail

/// Follows the links of `path`; the last file need not exist. Throws error if they lead in a circle.
[[gnu::cold]] inline place place_of(std::string path) {
  const auto given = path;
  struct stat status {};
  for (int links = 0; ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode); ++links) {
    if (links == 40) throw error("'" + given + "' is a link that leads in a circle");
    if (const int open = detail::descriptor_of(path); open >= 0 && ::fstat(open, &status) == 0)
      return {given, place::kinds::special, open, 0, S_ISREG(status.st_mode) ? detail::id_of(status) : ""};
    char to[PATH_MAX];
    const auto n = ::readlink(path.c_str(), to, sizeof to);
    // Links of other processes' open files have a text as their target that names no file.
    if (n <= 0 || (to[0] != '/' && std::string_view(to, static_cast<std::size_t>(n)).find(":[") != std::string_view::npos))
      return {path, place::kinds::special};
    const std::string next(to, static_cast<std::size_t>(n));
    path = next[0] == '/' ? next : folder_of(path) + next;
  }
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) return {path, place::kinds::regular, -1, status.st_mode & 0777u, detail::id_of(status)};
    return {path, S_ISDIR(status.st_mode) ? place::kinds::folder : place::kinds::special};
  }
  place out{path, place::kinds::nothing};
  out.id = detail::name_id(path);
  return out;
}

/// Equal for two paths to one name in one folder of this host, whatever file has the name.
inline std::string name_id(const std::string& path) { return detail::name_id(place_of(path).path); }

/// Why no file can take the place of `at`, as far as can be known without writing, or "".
[[gnu::cold]] inline std::string obstacle(const place& at) {
  struct stat status {};
  if (at.kind == place::kinds::folder) return std::strerror(EISDIR);
  if (at.descriptor >= 0) {
    const int how = ::fcntl(at.descriptor, F_GETFL);
    return how < 0 || (how & O_ACCMODE) == O_RDONLY ? "it is open for reading only" : "";
  }
  if (at.kind == place::kinds::special) return ::access(at.path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  if (::lstat(at.path.c_str(), &status) != 0 && errno != ENOENT) return std::strerror(errno);
  const auto folder = folder_of(at.path);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return "folder '" + folder + "': " + std::strerror(errno);
  if (at.kind == place::kinds::nothing) return "";
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx more {};
  if (::statx(AT_FDCWD, at.path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &more) == 0 &&
      (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return "it is a mount point and cannot be replaced; mount its folder instead";
#endif
  const auto of_other = [&](const std::string& path) {
    return ::geteuid() != 0 && ::stat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid();
  };
  if (of_other(at.path) && of_other(folder) && (status.st_mode & S_ISVTX) != 0)
    return "it belongs to another user, and folder '" + folder + "' is sticky";
  const int open = ::open(at.path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // a file for reading only stays
  if (open < 0) return std::strerror(errno);
  ::close(open);
  return "";
}

/// Whether `path` is a device, a pipe or a folder rather than a regular file, which can be read at any position.
inline bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// A file that a run reads or writes.
struct use {
  std::string path;  ///< "-": the standard input
  bool writes = false;
  std::string id{};  ///< place::id; empty: not compared
};

inline use reads(const std::string& path) { return {path, false, place_of(path).id}; }
inline use writes(const std::string& path) { return {path, true, place_of(path).id}; }
/// The standard input as a file that is read. mpirun (Open MPI) passes its own on through a pipe: `launched` also looks at
/// that of this process's parent, which is mpirun if both are on one host.
[[gnu::cold]] inline use reads_standard_input(bool launched) {
  struct stat status {};
  bool known = ::fstat(STDIN_FILENO, &status) == 0;
  if (known && launched && S_ISFIFO(status.st_mode))
    known = ::stat(("/proc/" + std::to_string(::getppid()) + "/fd/0").c_str(), &status) == 0;
  return {"-", false, known && S_ISREG(status.st_mode) ? detail::id_of(status) : ""};
}

/// The mistake in these uses if one file is written and also read, or written twice; else "".
[[gnu::cold]] inline std::string conflict(std::span<const use> all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j) {
      const auto &a = all[i], &b = all[j];
      if (i == j || !a.writes || a.id.empty() || a.id != b.id || (b.writes && j < i)) continue;
      const auto also = a.path == b.path ? "" : b.path == "-" ? " (as the standard input)" : " (as '" + b.path + "')";
      return "'" + a.path + "'" +
             (b.writes ? " would be written twice" + also + "; name two different files"
                       : " is read by this run" + also + " and would be overwritten; name another file");
    }
  return {};
}

}  // namespace dice::files
