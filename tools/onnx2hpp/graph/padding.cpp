// Pads before convolutions, as exporters of TensorFlow write them for strides other than 1.
#include "graph/passes.hpp"

#include "dice/graph/ops/clip.hpp"
#include "dice/graph/ops/conv.hpp"
#include "dice/graph/ops/max_pool.hpp"
#include "dice/graph/ops/pad.hpp"
#include "dice/graph/ops/relu.hpp"
#include "dice/graph/ops/sigmoid.hpp"

#include <optional>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

constexpr std::int64_t most = 1 << 24;

/// The pads of a window (`pads`: before, and after its two axes) together with those of `pad`; none if they cannot be
/// joined: elements are removed, or it pads other axes.
std::optional<std::array<int, 4>> joined(const ops::pad& pad, const shape& in, std::array<int, 4> pads) {
  if (pad.mode != ops::padding::constant || pad.value != 0 || in.rank < 3 || in.rank > 4) return {};
  for (int a = 0; a < in.rank; ++a) {
    const auto before = pad.before[a], after = pad.after[a];
    if (before < 0 || after < 0 || before > most || after > most || (a < 2 && (before > 0 || after > 0))) return {};
    if (a < 2) continue;
    const auto w = static_cast<std::size_t>(a - in.rank + 2);  // tensors of rank 3 use the second axis
    pads[w] += static_cast<int>(before);
    pads[w + 2] += static_cast<int>(after);
    if (pads[w] > most || pads[w + 2] > most) return {};
  }
  return pads;
}

bool is_never_negative(const layer& l) {
  const auto* clip = l.op.get_if<ops::clip>();
  return l.op.get_if<ops::relu>() || l.op.get_if<ops::sigmoid>() || (clip && clip->low >= 0 && clip->high >= 0);
}

}  // namespace

void fold_padding(network& net) {
  for (auto& l : net.layers) {
    auto* conv = l.op.get_if<ops::conv>();
    auto* pool = l.op.get_if<ops::max_pool>();
    if (!conv && !pool) continue;
    const layer& before = net.layers[l.operands[0]];
    const auto* pad = before.op.get_if<ops::pad>();
    if (!pad) continue;
    const int source = before.operands[0];
    const auto& of = net.layers[source];
    const auto pads = joined(*pad, of.result, conv ? conv->pads : pool->pads);
    if (!pads) continue;
    operation made = l.op;
    if (conv) {
      made.get_if<ops::conv>()->pads = *pads;
    } else {
      // Zeros are not larger than other elements of a window, which must have one.
      bool fits = is_never_negative(of) && pool->dilations == std::array{1, 1};
      for (std::size_t w = 0; w < 4; ++w) fits = fits && (*pads)[w] < pool->kernel[w % 2];
      if (!fits) continue;
      made.get_if<ops::max_pool>()->pads = *pads;
    }
    // A pool may round its extents up, which more pads can change.
    const shape in[] = {of.result};
    if (made.infer({in, 1}) != l.result) continue;
    l.op = std::move(made);
    l.operands[0] = source;
  }
}

}  // namespace onnx2hpp
