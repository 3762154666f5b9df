#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace dice::ops {

/// Repeats each element `factors[a]` times along axis a: nearest-neighbour upsampling by integer factors. ONNX Resize,
/// Upsample.
struct resize {
  static constexpr std::string_view onnx = "Resize";
  std::array<std::int64_t, tensor::max_rank> factors{1, 1, 1, 1, 1, 1, 1, 1};

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    for (int a = 0; a < out.rank; ++a) {
      graph::require(factors[a] > 0, "a factor is not positive");
      out[a] *= factors[a];
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a)
      r.begin[a] = out.begin[a] / factors[a], r.end[a] = (out.end[a] + factors[a] - 1) / factors[a];
    return r;
  }
  /// Whole repetitions.
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return std::lcm(graph::finest_step(axis), factors[axis]);
  }
  constexpr resize restrict(const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a)
      graph::require(out.begin[a] % factors[a] == 0 && out.end[a] % factors[a] == 0, "a part must have whole repetitions");
    return *this;
  }
};

}  // namespace dice::ops
