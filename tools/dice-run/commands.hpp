// The commands. Each adds itself to the command line, and sets `exit_code` when it has run. They throw run_error (exit code
// 1) and usage_error (2).
#pragma once

#include "remote.hpp"

#include <string>

namespace CLI {
class App;
}

namespace dice_run {

/// Options that all commands have.
struct common_options {
  remote::settings ssh;
  std::string packages;  ///< -p FOLDER, or ""
  std::string folder;    ///< --to FOLDER, or ""
};

}  // namespace dice_run
