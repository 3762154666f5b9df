// LpPool: (Σ |x|^p)^(1/p) under each window. The sum is a depthwise convolution with weights of 1, whose padding adds
// nothing.
#include "fold/broadcast.hpp"
#include "ops/layers.hpp"
#include "ops/window.hpp"

#include "dice/graph/ops/conv.hpp"

namespace onnx2hpp {

namespace {

using kind = dice::graph::activation::kind;

void import_lp_pool(node_context& n) {
  int x = n.activation(0);
  const shape in = n.shape_of(x);
  const auto kernel = n.integers("kernel_shape");
  const window w = read_window(n, in, kernel);
  dice::ops::conv sum{
      .channels = in[1], .kernel = w.kernel, .strides = w.strides, .dilations = w.dilations, .pads = w.pads, .group = in[1]};
  if (n.integer("ceil_mode", 0) != 0) {  // as much padding as the last windows need
    auto window = sum.window();
    window.ceil_mode = true;
    for (int a = 2; a < in.rank; ++a) {
      const int i = a - in.rank + 2;
      if (window.reach(i) > in[a] + sum.pads[i] + sum.pads[static_cast<std::size_t>(i) + 2])
        continue;  // refused by the convolution
      const auto read = (window.extent(i, in[a]) - 1) * window.strides[i] + window.reach(i);
      auto& behind = sum.pads[static_cast<std::size_t>(i) + 2];
      const auto missing = read - (in[a] + sum.pads[i] + behind);
      if (missing > 0) behind += n.small(missing, "padding");
    }
  }
  const auto p = n.integer("p", 2);
  n.require(p >= 1, "its p is not positive");
  if (p == 2) x = multiply_layers(n, x, x);
  else x = function_layer(n, x, {kind::abs});
  if (p > 2) x = power(n, x, static_cast<double>(p));
  std::vector<std::int64_t> dims{in[1], 1};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  const std::vector<double> ones(folded_size(dims, "its windows become a constant"), 1);
  const auto weights = make_constant(element::float32, dims, std::span(ones));
  x = n.add(sum, {x}, {{"weight", weights, shape_of(weights)}});
  if (p == 2) x = function_layer(n, x, {kind::sqrt});
  if (p > 2) x = power(n, x, 1 / static_cast<double>(p));
  n.result(x);
}

const importer known_lp_pool("LpPool", import_lp_pool, 1, "auto_pad ceil_mode>=18 dilations>=18 kernel_shape p pads strides",
                             "one or two spatial axes; becomes Mul or Pow, a depthwise Conv, and Sqrt or Pow");

}  // namespace
}  // namespace onnx2hpp
