#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels::gpu {

/// Where the working memory of a library begins in a scratch of `bytes`, and how much it is: libraries want it aligned to
/// 256.
struct workspace {
  std::byte* at = nullptr;
  std::int64_t bytes = 0;

  workspace(std::byte* scratch, std::int64_t room) {
    const auto skip = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(scratch) % 256);
    if (room > skip) at = scratch + skip, bytes = room - skip;
  }
};

/// y = x wᵀ + bias for `rows` rows of x; `bias` may be null.
inline void multiply(const call& c, const float* bias, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                     const ending& e) {
  const workspace work(c.scratch, c.how ? c.how->scratch_bytes : 0);
  current->products.run({c.output, c.inputs[0], c.parameters[0], bias, count(rows), count(columns), count(depth), e},
                        work.at, work.bytes);
}

}  // namespace dice::kernels::gpu
