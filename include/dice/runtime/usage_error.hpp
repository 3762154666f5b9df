#pragma once

#include <stdexcept>

namespace dice::runtime {

/// Wrong usage: a program exits with code 2, an engine throws it as engine_error. The text names the option and the remedy.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dice::runtime
