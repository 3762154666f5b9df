#pragma once

#include "dice/graph/network.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::runtime {

/// How the operands that the plan's steps read lie in memory, as kernels take it: plan_view::operands without the places.
template <std::size_t N>
constexpr std::array<dice::tensor::storage, N> storage_of(std::span<const schedule::place> operands) {
  std::array<dice::tensor::storage, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = operands[i].stored();
  return out;
}

/// Completes the anchors' entries, by fusion group, with what the plan decides: what follows the anchor, and how their
/// operands (views of `stored`, see storage_of) and results lie in memory.
constexpr void add_plan(std::span<kernels::entry> all, std::span<const dice::tensor::storage> stored,
                        const schedule::plan_view& plan, const graph::network_view& net) {
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto& group = plan.groups[g];
    auto& what = all[g].what;
    what.residual = group.residual >= 0;
    if (group.activation >= 0) what.activation = net.layers[group.activation].fuses.function;
    what.pools_2x2 = group.pool >= 0;
  }
  for (const auto& s : plan.steps)
    if (s.what == schedule::action::compute) {
      auto& what = all[s.group].what;
      what.stored = stored.subspan(static_cast<std::size_t>(s.first_operand), static_cast<std::size_t>(s.operands));
      what.output = s.output.stored();
    }
}

}  // namespace dice::runtime
