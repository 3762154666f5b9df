#pragma once

#include <stdexcept>

namespace dice::weights {

/// A weights file that is missing, cannot be read, is damaged or belongs to another network. The text says which of these
/// and what to do.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dice::weights
