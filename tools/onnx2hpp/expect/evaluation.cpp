#include "expect/evaluation.hpp"

#include "diagnostics.hpp"

#include "dice/kernels/reference/operators.hpp"

namespace onnx2hpp {

namespace {

/// The reference kernel of `op`, found by its type.
bool find_kernel(const operation& op, dice::kernels::entry& out) {
  const auto take = [&]<class Op>(const Op* found) {
    if (found) out.what.op = found, out.by.run = &dice::kernels::compiled<dice::kernels::reference::backend, Op>::run;
    return found != nullptr;
  };
#define DICE_TAKES(name) \
  if (take(op.get_if<dice::ops::name>())) return true;
  DICE_COMPUTED_OPERATORS(DICE_TAKES)
#undef DICE_TAKES
  return false;
}

}  // namespace

evaluation::evaluation(const network& net) : net_(net), steps_(net.layers.size()) {
  const auto layout = lay_out_weights(net);
  weights_ = weights_data(layout);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& l = net.layers[i];
    auto& s = steps_[i];
    for (int k : l.operands) ++steps_[k].readers;
    if (is_input(l) || is_output(l)) continue;
    if (!find_kernel(l.op, s.kernel))
      throw conversion_error({.node = quote(l.onnx_name),
                              .operator_name = l.op.onnx_name(),
                              .reason = "dice has no reference kernel for it",
                              .remedy = "convert the model without --expect"});
    s.in = net.operand_shapes(l);
    s.kernel.what.inputs = s.in;
    s.kernel.what.result = l.result;
    for (const auto offset : layout.offsets[i]) s.parameters.push_back(weights_.data() + offset);
  }
}

void evaluation::run(const input_values& input, const observer& see) const {
  const auto size = steps_.size();
  std::vector<std::vector<float>> computed(size);  // each until its last reader is done
  std::vector<const float*> values(size);
  std::vector<int> readers(size);
  const auto release = [&](std::size_t i) { std::vector<float>().swap(computed[i]); };
  for (std::size_t i = 0; i < size; ++i) {
    const auto& l = net_.layers[i];
    const auto& s = steps_[i];
    readers[i] = s.readers;
    if (is_input(l)) {
      values[i] = input(static_cast<int>(i));
    } else if (!is_output(l)) {
      std::vector<const void*> operands;
      for (int k : l.operands) operands.push_back(values[k]);
      computed[i].resize(static_cast<std::size_t>(l.result.elements()));
      values[i] = computed[i].data();
      s.kernel.run({.inputs = operands.data(),
                    .output = computed[i].data(),
                    .parameters = s.parameters.data(),
                    .packed = nullptr,
                    .scratch = nullptr});
    }
    if (!is_output(l)) see(static_cast<int>(i), values[i]);
    for (int k : l.operands)
      if (--readers[k] == 0) release(static_cast<std::size_t>(k));
    if (s.readers == 0) release(i);
  }
}

}  // namespace onnx2hpp
