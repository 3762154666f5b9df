#include "ops/window.hpp"

#include "dice/graph/ops/average_pool.hpp"

namespace onnx2hpp {

using dice::ops::average_pool;

namespace {

void import_average_pool(node_context& n) {
  const int x = n.activation(0);
  const window w = read_window(n, n.shape_of(x), n.integers("kernel_shape"));
  average_pool op{.kernel = w.kernel, .strides = w.strides, .dilations = w.dilations, .pads = w.pads};
  op.ceil_mode = n.integer("ceil_mode", 0) != 0;
  op.count_include_pad = n.integer("count_include_pad", 0) != 0;
  n.result(n.add(op, {x}));
}

const importer known_average_pool(
    "AveragePool", import_average_pool, 1,
    "auto_pad ceil_mode>=10 count_include_pad dilations>=19 kernel_shape pads strides",
    "1 or 2 spatial axes; without count_include_pad, a window without any element of the input is "
    "refused");

}  // namespace
}  // namespace onnx2hpp
