#include "ops/window.hpp"

#include "dice/graph/ops/conv.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

using dice::ops::conv;

namespace {

void import_conv(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const constant& w = n.data(1, "weights");
  if (in.rank < 3 || w.rank() != in.rank)
    n.refuse(fmt::format("its weights have {} axes and its input {}, expected three (N, C, W) or four (N, C, H, W)",
                         w.rank(), in.rank));
  const std::vector<std::int64_t> kernel(w.dims.begin() + 2, w.dims.end());
  if (n.integers("kernel_shape", kernel) != kernel) n.refuse("its kernel_shape differs from the shape of its weights");
  const window win = read_window(n, in, kernel);
  conv op{.channels = w.dims[0], .kernel = win.kernel, .strides = win.strides, .dilations = win.dilations, .pads = win.pads};
  op.group = n.integer("group", 1);
  n.require(op.group > 0 && op.channels > 0, "its groups and output channels must be positive");
  if (in[1] % op.group != 0 || w.dims[1] != in[1] / op.group || op.channels % op.group != 0)
    n.refuse(fmt::format("its weights {} do not fit an input of {} channel{} in {} group{}", literal(shape_of(w)), in[1],
                         in[1] == 1 ? "" : "s", op.group, op.group == 1 ? "" : "s"));
  std::vector<parameter> parameters{{"weight", w, shape_of(w)}};
  if (n.given(2)) {
    const constant& b = n.data(2, "bias");
    if (b.rank() != 1 || b.dims[0] != op.channels) n.refuse("its bias does not have one element for each output channel");
    op.bias = true;
    parameters.push_back({"bias", b, shape_of(b)});
  }
  n.result(n.add(op, {x}, std::move(parameters)));
}

const importer known_conv("Conv", import_conv, 1, "auto_pad dilations group kernel_shape pads strides",
                          "weights and bias constant; 1 or 2 spatial axes");

}  // namespace
}  // namespace onnx2hpp
