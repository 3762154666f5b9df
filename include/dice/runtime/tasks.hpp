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

/// Layouts of the operands that the plan's steps read, as kernels take them: plan_view::operands without the places.
template <std::size_t N>
constexpr std::array<dice::tensor::layout, N> layouts_of(std::span<const schedule::place> operands) {
  std::array<dice::tensor::layout, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = operands[i].layout;
  return out;
}

/// The same of their pitches.
template <std::size_t N> constexpr std::array<std::int64_t, N> pitches_of(std::span<const schedule::place> operands) {
  std::array<std::int64_t, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = operands[i].pitch;
  return out;
}

/// Completes the anchors' entries, by fusion group, with what the plan decides: what follows the anchor, and the layouts
/// that they read (views of `layouts`, see layouts_of) and write, and the pitches of bands of rows (views of `pitches`).
constexpr void add_plan(std::span<kernels::entry> all, std::span<const dice::tensor::layout> layouts,
                        std::span<const std::int64_t> pitches, const schedule::plan_view& plan,
                        const graph::network_view& net) {
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
      const auto first = static_cast<std::size_t>(s.first_operand), count = static_cast<std::size_t>(s.operands);
      what.layouts = layouts.subspan(first, count);
      what.output = s.output.layout;
      what.output_pitch = s.output.pitch;
      for (const auto& from : plan.operands.subview(first, count))
        if (from.pitch) what.pitches = pitches.subspan(first, count);
    }
}

}  // namespace dice::runtime
