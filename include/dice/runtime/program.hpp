#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/platform/dev.hpp"
#include "dice/platform/unit.hpp"
#include "dice/schedule/program.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace dice::kernels {
struct opened_accelerator;
}

namespace dice::runtime {

/// The backend's functions for the threads of a rank; null where it has none of its own.
struct team {
  /// Makes the kernels called from this thread use `threads` threads, thread i pinned to cores[i] if `cores` is not empty.
  void (*start)(int threads, std::span<const int> cores) = nullptr;
  /// From now on each of those threads tells in times[thread] when it worked, where begin is 0.
  void (*watch)(std::span<kernels::interval> times) = nullptr;
  /// Calls body(with); meanwhile those threads stand by. Throws what it throws.
  void (*keep)(void (*body)(void*), void* with) = nullptr;
  /// Calls body(with, thread, threads) in each of those threads. It must not throw.
  void (*each)(void (*body)(void*, std::int64_t, std::int64_t), void* with) = nullptr;
};

/// What plans of other mappings are made from: a network's layers, each alone, by backend and id; empty for backends that a
/// program has not.
struct layer_tables {
  algorithm::tables algorithms;
  /// With no variants where the backend cannot compute the layer.
  std::array<std::span<const kernels::entry>, algorithm::backends> kernels{};
  std::span<const std::span<const graph::parameter>> parameters{};
  kernels::opened_accelerator (*open)(const platform::unit& on) = nullptr;  ///< as in program

  constexpr bool computes(algorithm::backend by, int layer) const {
    return kernels[static_cast<std::size_t>(by)][static_cast<std::size_t>(layer)].variants > 0;
  }
  /// A layer as `by` computes it, how `how` says.
  constexpr kernels::entry kernel(algorithm::backend by, int layer, const algorithm::choice& how) const {
    auto out = kernels[static_cast<std::size_t>(by)][static_cast<std::size_t>(layer)];
    out.what.how = how;
    if (how.packed_bytes == 0) out.by.pack = nullptr;
    return out;
  }
};

struct owned_mapping;

/// Everything that a program knows of itself once it is compiled, as plain values: a network, its plan and its kernels.
struct program {
  std::string_view version;  ///< of dice
  std::string_view network;
  graph::network_view layers;
  schedule::plan_view plan;
  std::span<const kernels::entry> kernels;                        ///< by fusion group
  std::span<const std::span<const graph::parameter>> parameters;  ///< by fusion group: the anchor's
  graph::weights_file weights;
  std::string_view weights_folder;              ///< where the build made the weights file; may be empty
  std::span<const platform::unit> units;        ///< by rank
  std::span<const std::span<const int>> cores;  ///< by rank: of cores<…>; may be empty altogether
  std::span<const std::string_view> hosts;      ///< by rank: of on<…>, empty for any; may be empty altogether
  team threads{};
  /// Opens the accelerator of a rank whose unit is a GPU; null where there is no such rank. Throws std::runtime_error.
  kernels::opened_accelerator (*open)(const platform::unit& on) = nullptr;
  bool pack_at_start = false;            ///< without packed weights the first start writes them
  const layer_tables* tables = nullptr;  ///< for other mappings
  /// This program under a mapping that is given as text, or in a file of this name; null: there are to be no others. Throws
  /// runtime::usage_error.
  owned_mapping (*remap)(const program& own, std::string_view given) = nullptr;
  const char* const* library = nullptr;  ///< symbols of the library for which the program was compiled; null without one

  int ranks() const { return static_cast<int>(plan.ranks.size()); }
  /// How a fusion group is computed.
  constexpr const algorithm::choice& algorithm(std::size_t group) const { return kernels[group].what.how; }
};

}  // namespace dice::runtime
