#pragma once

#include "dice/tensor/layout.hpp"

#include <cstdint>

namespace dice::cost {

enum class backend : std::uint8_t { reference, openmp, cudnn };
inline constexpr int backends = 3;  ///< how many there are

/// How a backend computes one fusion group, as a value: what the plan must know of it.
struct algorithm {
  std::int64_t packed_bytes = 0;   ///< weights in the form that the kernel reads; 0: it reads the plain file in place
  std::int64_t scratch_bytes = 0;  ///< working memory in the arena during the step, for any number of threads
  tensor::layout in = tensor::layout::plain, out = tensor::layout::plain;
};

}  // namespace dice::cost
