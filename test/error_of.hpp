// The message of the exception that a function throws.
#pragma once

#include <exception>
#include <string>

namespace test {

/// "none" if it throws nothing.
template <class F> std::string error_of(F f) {
  try {
    f();
    return "none";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace test
