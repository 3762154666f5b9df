#pragma once

#include "dice/text/foreign.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dice::text {

// Names, labels and paths come from anywhere, so everything that a program prints goes through these functions.

/// Whether print() writes to standard error, because a file that the program writes is its standard output.
inline bool prints_to_stderr = false;

/// The text with the local time before each line, "2026-05-04 10:08:43 ", if the environment has DICE_TIMESTAMP_OUTPUT.
/// mpirun's own --timestamp-output loses output if lines are shorter than what it adds: both need at most 8 KiB for 4 KiB.
[[gnu::cold]] inline std::string stamped(std::string text) {
  if (!std::getenv("DICE_TIMESTAMP_OUTPUT")) return text;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char stamp[32];
  const std::string_view time(stamp, std::strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S ", ::localtime_r(&now, &local)));
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out.append(time).append(text, begin, end - begin);
    begin = end;
  }
  return out;
}

/// What print() throws if the standard output is a pipe that no program reads any more.
struct no_reader : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes `page` to standard output, as shown() shows it except for line breaks and tabs, and flushes it. Throws
/// std::runtime_error.
inline void print(std::string_view page) {
  const auto text = stamped(shown(page, "\n\t"));
  auto* const to = prints_to_stderr ? stderr : stdout;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0) return;
  const int why = errno;
  const auto error =
      std::string("the standard ") + (prints_to_stderr ? "error" : "output") + " cannot be written: " + std::strerror(why);
  if (why == EPIPE) throw no_reader(error);
  throw std::runtime_error(error);
}

/// Throws std::runtime_error unless the standard output has taken all that was printed. Main functions of tools end with it:
/// a write that fails is seen only when buffers are emptied.
inline void require_printed() {
  const bool failed = std::ferror(stdout) != 0;  // before, so that nobody knows why
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed) return;
  throw std::runtime_error("the standard output cannot be written" +
                           (errno ? std::string(": ") + std::strerror(errno) : std::string()));
}

/// Writes `message`, as shown() shows it, as a line to standard error.
inline void print_error(std::string_view message) {
  const auto line = stamped(shown(message) + "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace dice::text
