#pragma once

#include <stdexcept>

namespace dice::files {

/// A file that cannot be read or written, is damaged, or is not the one that is needed. The text says which file, what is
/// wrong with it, and what to do.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dice::files
