// The work of a network's groups, as dice computes them, and the machine's limits: as JSON, for bench/peers/roofline.
#pragma once

#include "machine.hpp"

#include <dice/assembly/program_of.hpp>
#include <dice/report/trace.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>

namespace layers {

struct work {
  std::string kind;
  std::int64_t products = 0;  ///< as computed: Winograd's algorithm needs fewer than the layer has
};

template <class Net, class Layer> work work_of(const dice::algorithm::choice& how, std::int64_t macs) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(Layer::op)>, dice::ops::conv>) {
    constexpr auto& op = Layer::op;
    constexpr auto in = Net::template layer<Layer::operands[0]>::result;
    const auto window = std::to_string(op.kernel[0]) + "x" + std::to_string(op.kernel[1]);
    if (how.variant > 0) {
      const dice::algorithm::winograd w(how.variant, op, in, Layer::result);
      return {"Winograd " + window, w.images * w.rows * w.columns * w.points() * w.channels * w.out_channels};
    }
    const bool depthwise = dice::algorithm::convolution(op, in, Layer::result).depthwise;
    return {(depthwise ? "depthwise " : "direct ") + window, macs};
  } else {
    return {std::string(Layer::op.onnx), macs};
  }
}

/// Bytes that a compute step reads and writes besides the weights. Operands that are already in a Concat's result count as
/// neither.
inline std::int64_t moved_bytes(const dice::runtime::program& p, const dice::schedule::step& s) {
  using namespace dice;
  const auto& group = p.plan.groups[s.group];
  const auto size = [&](int tensor, const schedule::place& at) {
    return tensor::bytes(p.layers.layers[tensor].output, at.stored());
  };
  const auto result = size(group.output(), s.output);
  std::int64_t read = 0;
  bool joined = false;
  for (int k = 0; k < s.operands; ++k) {
    const auto edges = p.layers.into(group.anchor);
    const auto& edge = k < static_cast<int>(edges.size()) ? edges[k] : p.layers.into(group.residual)[group.residual_operand];
    const auto& at = p.plan.operands[s.first_operand + k];
    if (edge.joins >= 0 && edge.to == group.anchor) {
      joined = true;
      if (at.where == s.output.where && at.offset >= s.output.offset && at.offset < s.output.offset + result) continue;
    }
    read += size(edge.from, at);
  }
  return joined ? 2 * read : read + result;
}

/// {"layers": [{"name", "ids", "kind", "macs", "products", "weight_bytes", "moved_bytes"}]}, one entry per group, in their
/// order.
template <class Net> void print(const dice::runtime::program& p) {
  const char* before = "{\"layers\": [\n";
  for (const auto& s : p.plan.steps) {
    if (s.what != dice::schedule::action::compute) continue;
    const auto g = static_cast<std::size_t>(s.group);
    const auto& group = p.plan.groups[g];
    const auto& anchor = p.layers.layers[group.anchor];
    const auto& how = p.algorithm(g);
    work w;
    [&]<int... Id>(std::integer_sequence<int, Id...>) {
      (void)((Id == group.anchor && (w = work_of<Net, typename Net::template layer<Id>>(how, anchor.macs), true)) || ...);
    }
    (std::make_integer_sequence<int, Net::size>{});
    std::string ids;
    for (int l : group.layers())
      if (l >= 0) ids += (ids.empty() ? "" : ", ") + std::to_string(l);
    const auto number = [](std::int64_t n) { return static_cast<long long>(n); };
    std::printf(
        "%s {\"name\": \"%s\", \"ids\": [%s], \"kind\": \"%s\", \"macs\": %lld, \"products\": %lld, "
        "\"weight_bytes\": %lld, \"moved_bytes\": %lld}",
        before, dice::report::group_text(p, g).c_str(), ids.c_str(), w.kind.c_str(), number(anchor.macs), number(w.products),
        number(how.packed_bytes > 0 ? how.packed_bytes : anchor.parameter_bytes), number(moved_bytes(p, s)));
    before = ",\n";
  }
  std::printf("]}\n");
}

/// {"threads", "flops", "levels": [{"name", "holds", "bytes_per_second"}]} for OMP_NUM_THREADS threads.
inline void print_machine() {
  int threads = dice::kernels::team::available_threads();
  const auto print = [](void* with) {
    const int n = *static_cast<int*>(with);
    std::printf("{\"threads\": %d, \"flops\": %.4g, \"levels\": [", n, bench::peak(n));
    const char* before = "";
    for (const auto& l : bench::levels(n)) {
      std::printf("%s{\"name\": \"%s\", \"holds\": %lld, \"bytes_per_second\": %.4g}", before, l.name,
                  static_cast<long long>(l.holds), l.bytes_per_second);
      before = ", ";
    }
    std::printf("]}\n");
  };
  dice::kernels::team::keep(print, &threads);
}

}  // namespace layers
