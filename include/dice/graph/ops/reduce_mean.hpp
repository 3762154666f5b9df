#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <string_view>

namespace dice::ops {

/// Mean over the axes marked in `over`, kept with extent 1 if `keep`, else removed. ONNX ReduceMean.
struct reduce_mean {
  static constexpr std::string_view onnx = "ReduceMean";
  std::array<bool, tensor::max_rank> over{};
  bool keep = true;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out;
    for (int a = 0; a < in[0].rank; ++a) {
      if (!over[a]) out.push_back(in[0][a]);
      else if (keep) out.push_back(1);
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0, o = 0; a < in[0].rank; ++a) {
      if (!over[a] && a < tensor::region::axes && o < tensor::region::axes) r.begin[a] = out.begin[o], r.end[a] = out.end[o];
      if (!over[a] || keep) ++o;
    }
    return r;
  }
};

}  // namespace dice::ops
