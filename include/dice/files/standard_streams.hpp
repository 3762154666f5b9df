#pragma once

#include "dice/files/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace dice::files {

/// Occupies the numbers of standard streams that the program was started without, so that no file it opens becomes one of
/// them: reading and writing such a stream fails. Call it first in main functions.
inline void occupy_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest number
}

/// Throws error unless the file that is the standard output has taken all that was written to it: some file systems, such as
/// NFS, say only when a file is closed that there was no room. Main functions end with it; buffers are emptied before.
inline void require_stored() {
  const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR)
    throw error(std::string("the standard output cannot be written: ") + std::strerror(errno));
}

}  // namespace dice::files
