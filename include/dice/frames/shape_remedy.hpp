#pragma once

#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace dice::frames {

namespace detail {

/// The extents other than 1.
inline std::vector<std::int64_t> without_ones(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> out;
  std::copy_if(extents.begin(), extents.end(), std::back_inserter(out), [](std::int64_t n) { return n != 1; });
  return out;
}

/// The transposition that turns pictures of shape `found`, one or several, into `wanted`, whose axes have another order; or
/// "".
[[gnu::cold]] inline std::string transposition(const std::vector<std::int64_t>& found, const dice::tensor::shape& wanted) {
  if (wanted.rank != 4 || (found.size() != 4 && found.size() != 3)) return {};
  const bool several = found.size() == 4;
  if (several ? found[0] <= 0 || found[0] % wanted[0] != 0 : wanted[0] != 1) return {};
  const auto* const picture = found.data() + several;
  if (std::equal(picture, picture + 3, wanted.dim + 1)) return {};
  if (picture[2] == wanted[1] && picture[0] == wanted[2] && picture[1] == wanted[3])
    return several ? "(0, 3, 1, 2)" : "(2, 0, 1)[np.newaxis]";
  if (picture[1] == wanted[1] && picture[2] == wanted[2] && picture[0] == wanted[3])
    return several ? "(0, 2, 3, 1)" : "(1, 2, 0)[np.newaxis]";
  return {};
}

/// Whether the numbers of `found` are whole frames of shape `wanted` with other axes: its last axes have as many numbers as
/// a sample, but are neither the sample's axes in another order nor several smaller pictures.
[[gnu::cold]] inline bool has_frames(std::span<const std::int64_t> found, const dice::tensor::shape& wanted) {
  const auto sample = without_ones({wanted.dim + 1, wanted.dim + wanted.rank});
  const std::int64_t numbers = wanted.elements() / wanted[0];
  std::int64_t last = 1;
  for (auto first = found.size(); last <= numbers; last *= found[first]) {
    if (last == numbers) {
      const auto axes = without_ones(found.subspan(first));
      const bool other_order = axes != sample && std::is_permutation(axes.begin(), axes.end(), sample.begin(), sample.end());
      const bool smaller = sample.size() == 3 && axes.size() > 3;
      std::int64_t samples = 1;  // modulo those of a frame
      for (const auto n : found.first(first)) samples = samples * (n % wanted[0]) % wanted[0];
      if (samples % wanted[0] == 0 && !other_order && !smaller) return true;
    }
    if (first == 0 || found[--first] > numbers / last) return false;
  }
  return false;
}

}  // namespace detail

/// What to do about frames of shape `found` where a network wants `wanted`, joined along the leading dimension.
[[gnu::cold]] inline std::string shape_remedy(const std::vector<std::int64_t>& found, const dice::tensor::shape& wanted) {
  if (const auto axes = detail::transposition(found, wanted); !axes.empty())
    return "its axes have another order: save it with .transpose" + axes;
  const bool empty = std::any_of(found.begin(), found.end(), [](std::int64_t n) { return n <= 0; });
  if (wanted.rank > 1 && !empty && detail::has_frames(found, wanted)) {
    std::string axes = "-1";
    for (int a = 1; a < wanted.rank; ++a) axes += ", " + std::to_string(wanted[a]);
    return "save it with .reshape(" + axes + ") if only the axes differ";
  }
  return "make frames of the network's shape, or convert the model for these (onnx2hpp -i)";
}

}  // namespace dice::frames
