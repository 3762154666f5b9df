#include "graph/passes.hpp"

#include "dice/graph/ops/batch_normalization.hpp"
#include "dice/graph/ops/conv.hpp"

#include <numeric>
#include <span>

namespace onnx2hpp {

namespace {

/// y = (W x + b) · scale + shift = (scale · W) x + (b · scale + shift), for each output channel, in double.
void join(layer& convolution, dice::ops::conv& op, const layer& normalization) {
  const auto scale = reals(normalization.parameters[0].source);
  auto bias = reals(normalization.parameters[1].source);
  if (op.bias) {
    const auto before = reals(convolution.parameters[1].source);
    for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += before[c] * scale[c];
    convolution.parameters.pop_back();
  }
  op.bias = true;
  convolution.parameters[0].rows = scale;
  convolution.parameters.push_back(
      {"bias", make_constant(element::float64, {op.channels}, std::span<const double>(bias)), {op.channels}});
}

}  // namespace

void fold_batch_normalization(network& net) {
  std::vector<int> readers(net.layers.size());
  for (const auto& l : net.layers)
    for (int k : l.operands) ++readers[static_cast<std::size_t>(k)];
  std::vector<int> stands_for(net.layers.size()), computed(net.layers.size());
  std::iota(computed.begin(), computed.end(), 0);  // the layer whose result each one computes
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    layer& l = net.layers[i];
    stands_for[i] = static_cast<int>(i);
    for (int& k : l.operands) k = stands_for[static_cast<std::size_t>(k)];
    if (!l.op.get_if<dice::ops::batch_normalization>()) continue;
    const auto before = static_cast<std::size_t>(l.operands[0]);
    auto* op = net.layers[before].op.get_if<dice::ops::conv>();
    // A convolution that has already absorbed one is read by the readers of that one.
    if (!op || readers[before] != 1 || !net.layers[before].parameters[0].rows.empty()) continue;
    join(net.layers[before], *op, l);
    stands_for[i] = static_cast<int>(before);
    readers[before] = readers[i];
    computed[before] = static_cast<int>(i);
  }
  for (auto& [name, index] : net.tensors)
    if (index >= 0) {
      const auto at = static_cast<std::size_t>(index);
      index = computed[at] == index ? stands_for[at] : -1;
    }
}

int drop_unused(network& net) {
  const auto size = net.layers.size();
  std::vector<bool> used(size);
  for (std::size_t i = size; i-- > 0;) {
    if (is_input(net.layers[i]) || is_output(net.layers[i])) used[i] = true;
    if (used[i])
      for (int k : net.layers[i].operands) used[static_cast<std::size_t>(k)] = true;
  }
  std::vector<int> new_index(size, -1);
  std::vector<layer> kept;
  for (std::size_t i = 0; i < size; ++i) {
    if (!used[i]) continue;
    new_index[i] = static_cast<int>(kept.size());
    for (int& k : net.layers[i].operands) k = new_index[static_cast<std::size_t>(k)];
    kept.push_back(std::move(net.layers[i]));
  }
  net.layers = std::move(kept);
  for (auto& [name, index] : net.tensors)
    if (index >= 0) index = new_index[static_cast<std::size_t>(index)];
  return static_cast<int>(size - net.layers.size());
}

}  // namespace onnx2hpp
