#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace dice::files {

/// Occupies the numbers of standard streams that the program was started without, so that no file it opens becomes one of
/// them: reading and writing such a stream fails. Call it first in main functions.
inline void occupy_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest number
}

}  // namespace dice::files
