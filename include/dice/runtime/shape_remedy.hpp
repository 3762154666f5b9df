#pragma once

#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dice::runtime {

/// What to do about frames of shape `found` where a network wants `wanted`, joined along the leading dimension.
[[gnu::cold]] inline std::string shape_remedy(const std::vector<std::int64_t>& found, const dice::tensor::shape& wanted) {
  const auto rank = static_cast<std::size_t>(wanted.rank);
  if (rank == 4 && found.size() == 4)
    for (const auto& [from, numbers] : {std::pair{std::vector{0, 3, 1, 2}, "0, 3, 1, 2"}, {{0, 2, 3, 1}, "0, 2, 3, 1"}}) {
      bool fits = found[0] > 0 && found[0] % wanted[0] == 0;
      for (int a = 1; a < 4; ++a)
        fits = fits && found[static_cast<std::size_t>(from[static_cast<std::size_t>(a)])] == wanted[a];
      if (fits) return "its axes have another order: save it with .transpose(" + std::string(numbers) + ")";
    }
  std::int64_t elements = 1;
  for (const auto n : found) elements = elements > 0 && n > INT64_MAX / elements ? 0 : elements * n;  // 0: too many
  if (rank > 1 && elements > 0 && elements % wanted.elements() == 0) {
    std::string axes = "-1";
    for (int a = 1; a < wanted.rank; ++a) axes += ", " + std::to_string(wanted[a]);
    return "save it with .reshape(" + axes + ") if only the axes differ";
  }
  return "make frames of the network's shape, or convert the model for these (onnx2hpp -i)";
}

}  // namespace dice::runtime
