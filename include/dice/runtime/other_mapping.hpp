#pragma once

#include "dice/platform/dev.hpp"
#include "dice/runtime/program.hpp"

#include <memory>
#include <span>

namespace dice::runtime {

/// A program's network under another mapping; owns what program() refers to.
class other_mapping {
 public:
  virtual ~other_mapping() = default;
  virtual const runtime::program& program() const = 0;
  virtual std::span<const platform::device> devices() const = 0;
};

/// Owns an other_mapping.
struct owned_mapping {
  std::unique_ptr<const other_mapping> it;
};

}  // namespace dice::runtime
