/// Runs the onnx2hpp program.
#pragma once

#include "model_builder.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace onnx2hpp_test {

struct outcome {
  int code;  ///< exit code, or -1 after a signal
  std::string out, err;
};

inline outcome run(const std::vector<std::string>& command) {
  const scratch folder;
  const std::string out = folder.path / "out", err = folder.path / "err";
  std::vector<char*> argv;
  for (const auto& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr)) ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

/// onnx2hpp with these arguments.
inline outcome tool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ONNX2HPP);
  return run(arguments);
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The names of what a folder holds; none if it does not exist.
inline std::set<std::string> files(const std::filesystem::path& folder) {
  std::set<std::string> out;
  if (std::filesystem::exists(folder))
    for (const auto& e : std::filesystem::directory_iterator(folder)) out.insert(e.path().filename());
  return out;
}

}  // namespace onnx2hpp_test
