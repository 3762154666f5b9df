#pragma once

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace dice::files {

/// Writes `text` to the standard error, for a program that must end even if nobody reads it: what a pipe does not take
/// within `patience` milliseconds is lost. Async-signal-safe; any thread may call it, whatever others print.
inline void say_last(std::string_view text, int patience = 1000) {
  pollfd to{STDERR_FILENO, POLLOUT, 0};
  while (!text.empty() && ::poll(&to, 1, patience) == 1 && to.revents == POLLOUT) {
    const auto n = ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));  // it has so much room
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace dice::files
