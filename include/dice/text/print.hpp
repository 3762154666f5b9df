#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dice::text {

/// Writes `text` to standard output and flushes it. Throws std::runtime_error.
inline void print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::runtime_error(std::string("the standard output cannot be written: ") + std::strerror(errno));
}

}  // namespace dice::text
