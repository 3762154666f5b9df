#include "ops/window.hpp"

#include "dice/graph/ops/max_pool.hpp"

namespace onnx2hpp {

using dice::ops::max_pool;

namespace {

void import_max_pool(node_context& n) {
  const int x = n.activation(0);
  const window w = read_window(n, n.shape_of(x), n.integers("kernel_shape"));
  n.ignore({"storage_order"});  // affects only the second output
  max_pool op{.kernel = w.kernel, .strides = w.strides, .dilations = w.dilations, .pads = w.pads};
  op.ceil_mode = n.integer("ceil_mode", 0) != 0;
  n.result(n.add(op, {x}));
}

const importer known_max_pool(
    "MaxPool", import_max_pool, 1, "auto_pad ceil_mode>=10 dilations>=10 kernel_shape pads storage_order>=8 strides",
    "1 or 2 spatial axes; only the output Y; a window without any element of the input is refused");

}  // namespace
}  // namespace onnx2hpp
