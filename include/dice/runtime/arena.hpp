#pragma once

#include "dice/kernels/accelerator.hpp"
#include "dice/schedule/program.hpp"
#include "dice/weights/block.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::runtime {

/// A rank's buffers: a block for each frame slot, then the scratch block. In the host's memory, or in the memory of the
/// accelerator `on`, which outlives it.
class arena {
 public:
  arena(const schedule::rank_program& of, int slots, kernels::accelerator* on)
      : frame_bytes_(of.frame_bytes),
        slots_(slots),
        bytes_(slots * of.frame_bytes + of.scratch_bytes),
        block_(on ? 0 : bytes_),
        memory_(on ? on->memory(bytes_) : block_.data()) {
    block_.touch();
  }

  std::int64_t bytes() const { return bytes_; }
  std::byte* address(const schedule::place& at, int in_slot) const {
    const auto base = at.where == schedule::space::frame ? in_slot * frame_bytes_ : slots_ * frame_bytes_;
    return memory_ + base + at.offset;
  }

 private:
  std::int64_t frame_bytes_;
  int slots_;
  std::int64_t bytes_;
  weights::block block_;  ///< empty if there is an accelerator
  std::byte* memory_;
};

}  // namespace dice::runtime
