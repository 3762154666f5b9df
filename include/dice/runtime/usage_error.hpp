#pragma once

#include <stdexcept>

namespace dice::runtime {

/// Wrong usage of a program: exit code 2; of an engine: its engine_error. The text names the option and the remedy.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dice::runtime
