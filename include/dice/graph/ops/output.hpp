#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// A graph output: what the caller receives, in the type `number`.
struct output {
  static constexpr std::string_view onnx = "Output";
  tensor::number number = tensor::number::float32;
  DICE_MEMBERS(number)
  constexpr std::int64_t view(graph::shapes, const tensor::shape&) const { return 0; }
  constexpr std::int64_t cut_step(int, graph::shapes, const tensor::shape&) const { return 0; }
};

}  // namespace dice::ops
