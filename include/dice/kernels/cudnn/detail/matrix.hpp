#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels::cudnn {

/// The part of a scratch of `room` bytes that begins at a multiple of 256, as libraries require; its size does not depend on
/// the address.
struct workspace {
  std::byte* at = nullptr;
  std::int64_t bytes = 0;

  workspace(std::byte* scratch, std::int64_t room) {
    constexpr auto slack = algorithm::cudnn_workspace::alignment;
    if (room <= slack) return;
    at = scratch + -reinterpret_cast<std::uintptr_t>(scratch) % slack;
    bytes = room - slack;
  }
};

/// y = x wᵀ + bias for `rows` rows of x; `bias` may be null.
inline void multiply(const call& c, const float* bias, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                     const ending& e) {
  const workspace work(c.scratch, c.how.scratch_bytes);
  current->products.run({c.output, c.inputs[0], c.parameters[0], bias, count(rows), count(columns), count(depth), e},
                        work.at, work.bytes);
}

}  // namespace dice::kernels::cudnn
