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

namespace dice::runtime {

/// The backend's functions for the threads of a rank; null if it has no threads of its own.
struct team {
  /// Makes the kernels called from this thread use `threads` threads, thread i pinned to cores[i] if `cores` is not empty.
  void (*start)(int threads, std::span<const int> cores) = nullptr;
  /// From now on, each of those threads records in times[thread] when it worked: `begin` only if it is 0.
  void (*watch)(std::span<kernels::interval> times) = nullptr;
  /// Calls body(with) while those threads stand by. Throws what body throws.
  void (*keep)(void (*body)(void*), void* with) = nullptr;
  /// Calls body() while those threads, if there are any, stand by.
  template <class F> void run(F body) const {
    if (keep) keep([](void* f) { (*static_cast<F*>(f))(); }, &body);
    else body();
  }
  /// Calls body(with, thread, threads) in each of those threads. body must not throw.
  void (*each)(void (*body)(void*, std::int64_t, std::int64_t), void* with) = nullptr;
};

/// What plans of other mappings are made from: a network's layers, unfused, by backend and id; empty for backends that a
/// program does not have.
struct layer_tables {
  algorithm::tables algorithms;
  /// An entry has no variants if the backend cannot compute the layer.
  algorithm::by_backend<std::span<const kernels::entry>> kernels{};
  std::span<const std::span<const graph::parameter>> parameters{};
  algorithm::by_backend<kernels::opener> open{};  ///< as in program

  constexpr bool computes(algorithm::backend by, int layer) const { return kernels[by][layer].variants > 0; }
  /// The entry of a layer in backend `by`, computed as `how` says.
  constexpr kernels::entry kernel(algorithm::backend by, int layer, const algorithm::choice& how) const {
    auto out = kernels[by][layer];
    out.what.how = how;
    if (how.packed_bytes == 0) out.by.pack = nullptr;
    return out;
  }
};

struct owned_mapping;

/// Everything that a compiled program knows about itself, as plain values: a network, its plan and its kernels.
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
  algorithm::by_backend<kernels::opener> open{};  ///< by backend: opens the accelerator of a rank, null for CPUs
  bool pack_at_start = false;                     ///< if packed weights are missing, the first start writes them
  const layer_tables* tables = nullptr;           ///< for other mappings
  /// This program under a mapping given as text or as the name of a file; null if no other mappings are allowed. Throws
  /// runtime::usage_error.
  owned_mapping (*remap)(const program& own, std::string_view given) = nullptr;
  const char* const* library = nullptr;  ///< symbols of the library for which the program was compiled; null without one

  int ranks() const { return static_cast<int>(plan.ranks.size()); }
  /// Opens the accelerator of rank `r`; null if the rank has none.
  constexpr kernels::opener opener(std::size_t r) const {
    return r < units.size() ? open[algorithm::backend_of(units[r])] : nullptr;
  }
  constexpr bool has_accelerators() const {
    for (std::size_t r = 0; r < units.size(); ++r)
      if (opener(r)) return true;
    return false;
  }
  /// How a fusion group is computed.
  constexpr const algorithm::choice& algorithm(std::size_t group) const { return kernels[group].what.how; }
};

}  // namespace dice::runtime
