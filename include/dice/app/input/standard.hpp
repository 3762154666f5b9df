#pragma once

#include "dice/channels/transports.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace dice::app {

/// Why `--input -` is impossible in the process that has rank `rank` and graph input `input`, or "".
[[gnu::cold]] inline std::string no_standard_input(int rank, const std::string& input) {
  struct stat given {
  }, none{};
  const bool is_null = ::fstat(STDIN_FILENO, &given) == 0 && ::stat("/dev/null", &none) == 0 && S_ISCHR(given.st_mode) &&
                       given.st_rdev == none.st_rdev;
  const auto n = std::to_string(rank);
  if (const auto start = channels::launched(); is_null && start.size > 1) {  // as mpirun does if it feeds another process
    const std::string launcher(start.by->started_by.name), option(start.by->started_by.input);
    return "--input -: input '" + input + "' is in rank " + n + ", but " + launcher +
           " passed its standard input to another rank" +
           (rank == 0 ? "; start it without " + option
                      : " (to rank 0 by default); start it with " + launcher + " " + option + " " + n);
  }
  if (::isatty(STDIN_FILENO))
    return "--input -: the standard input is a terminal; give it a pipe or a file, … | PROGRAM --input -";
  return {};
}

}  // namespace dice::app
