#pragma once

#include "dice/files/error.hpp"
#include "dice/graph/network.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

namespace dice::weights {

/// Path of the running program; empty if it is unknown.
inline std::string program_path() {
  char path[PATH_MAX];
  const auto n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n >= static_cast<ssize_t>(sizeof path)) return {};
  return std::string(path, static_cast<std::size_t>(n));
}
/// Its folder, without a trailing slash; empty if it is unknown.
inline std::string program_folder() {
  const auto path = program_path();
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

/// Path of the running program's file of packed weights: beside the program, with its name and ".packed". Empty if there is
/// none.
inline std::string packed_beside() {
  const auto program = program_path(), path = program + ".packed";
  return !program.empty() && ::access(path.c_str(), F_OK) == 0 ? path : std::string();
}

/// Path of the first weights file in these places: beside the program, in the working directory, in `build_folder` (skipped
/// if empty). Empty if there is none. `looked` becomes the list of the places.
inline std::string find_plain(const graph::weights_file& wanted, std::string_view build_folder, std::string& looked) {
  const std::string name(wanted.file);
  const auto exists = [&](const std::string& path) {
    looked += (looked.empty() ? "" : ", ") + path;
    return ::access(path.c_str(), F_OK) == 0;
  };
  if (const auto beside = program_folder() + "/" + name; exists(beside)) return beside;
  char here[PATH_MAX];
  const std::string cwd = ::getcwd(here, sizeof here) ? here : ".";
  if (cwd != program_folder() && exists(cwd + "/" + name)) return cwd + "/" + name;
  if (const auto built = std::string(build_folder) + "/" + name; !build_folder.empty() && exists(built)) return built;
  return {};
}

/// Path of the weights file: `given` if not empty, else as find_plain() says. Throws files::error that lists where it
/// looked. `option`: what users name the file with.
inline std::string find(const graph::weights_file& wanted, std::string_view given, std::string_view build_folder,
                        const std::string& option = "--weights") {
  if (!given.empty()) return std::string(given);
  std::string looked;
  if (auto found = find_plain(wanted, build_folder, looked); !found.empty()) return found;
  throw files::error("weights file not found; looked for " + looked + ". Copy it there, or say where it is with " + option);
}

}  // namespace dice::weights
