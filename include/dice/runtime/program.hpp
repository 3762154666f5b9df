#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/placement/written.hpp"
#include "dice/platform/dev.hpp"
#include "dice/platform/unit.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
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

/// The functions of a backend that cut tensors, put them together and add partial sums.
struct piece_kernels {
  kernels::functions cut, join, sum;
};

/// The source of plans for other mappings: a network's layers, unfused, by backend and id; empty for backends that a program
/// does not have.
struct layer_tables {
  graph::network_view net;
  algorithm::tables algorithms;
  /// An entry has no variants if the backend cannot compute the layer.
  algorithm::by_backend<std::span<const kernels::entry>> kernels{};
  meta::view<meta::view<graph::parameter>> parameters{};
  algorithm::by_backend<kernels::opener> open{};        ///< as in program
  algorithm::by_backend<kernels::converter> convert{};  ///< as in program
  algorithm::by_backend<piece_kernels> pieces{};        ///< of layers that only networks of parts have

  constexpr bool computes(algorithm::backend by, int layer) const { return kernels[by][layer].variants > 0; }
  /// The entry of a layer in backend `by`, computed as `how` says.
  constexpr kernels::entry kernel(algorithm::backend by, int layer, const algorithm::choice& how) const {
    auto out = kernels[by][layer];
    out.what.how = how;
    if (how.packed_bytes == 0) out.by.pack = nullptr;
    return out;
  }
  /// The same of layer `l` of a network of parts, which must outlive it.
  constexpr kernels::entry kernel(algorithm::backend by, const parts::parts_view& all, int l,
                                  const algorithm::choice& how) const {
    using kind = parts::part::kind;
    auto out = kernel(by, all.whole(l), how);
    if (all.parts.empty() || all.restricted[l] < 0) return out;
    const auto what = all.parts[l].what;
    if (!all.parts[l].is_own())
      out = {.by = what == kind::cut || what == kind::copy ? pieces[by].cut
                   : what == kind::join                    ? pieces[by].join
                                                           : pieces[by].sum};
    out.what = {.op = all.operators[all.restricted[l]].address(),
                .inputs = all.net.operands(l),
                .result = all.net.layers[l].output,
                .how = how};
    return out;
  }
  /// The parameters of that layer.
  constexpr meta::view<graph::parameter> parameters_of(const parts::parts_view& all, int l) const {
    if (all.parts.empty() || all.restricted[l] < 0) return parameters[all.whole(l)];
    const auto first = all.first_parameter[l], end = all.first_parameter[l + 1];
    return all.parameters.subview(first, end - first);
  }
};

struct owned_mapping;

/// Everything that a compiled program knows about itself, as plain values: a network, its plan and its kernels.
struct program {
  std::string_view version;  ///< of dice
  std::string_view network;
  graph::network_view layers;            ///< those of the plan: if the mapping splits layers, the network of parts
  meta::view<parts::part> parts{};       ///< what each of them is a part of; empty: they are the network's own
  graph::network_view whole_layers{};    ///< then the network's own
  placement::written_mapping mapping{};  ///< from which the plan is made
  schedule::plan_view plan;
  std::span<const kernels::entry> kernels;              ///< by fusion group
  meta::view<meta::view<graph::parameter>> parameters;  ///< by fusion group: the anchor's
  graph::weights_file weights;
  std::string_view weights_folder;              ///< where the build made the weights file; may be empty
  std::span<const platform::unit> units;        ///< by rank
  std::span<const std::span<const int>> cores;  ///< by rank: of cores<…>; may be empty altogether
  std::span<const std::string_view> hosts;      ///< by rank: of on<…>, empty for any; may be empty altogether
  team threads{};
  algorithm::by_backend<kernels::opener> open{};        ///< by backend: opens the accelerator of a rank, null for CPUs
  algorithm::by_backend<kernels::converter> convert{};  ///< by backend: converts tensors
  bool pack_at_start = false;                           ///< if packed weights are missing, the first start writes them
  const layer_tables* tables = nullptr;                 ///< for other mappings
  /// This program under a mapping given as text or as the name of a file; null if no other mappings are allowed. Throws
  /// runtime::usage_error.
  owned_mapping (*remap)(const program& own, std::string_view given) = nullptr;
  std::string_view board{};              ///< the kind of board that it was built for; empty: it has all ranks
  std::span<const bool> here{};          ///< then by rank: whether it has the rank, and with it the kernels of its groups
  const char* const* library = nullptr;  ///< symbols of the library for which the program was compiled; null without one

  /// The layer of the network to which layer l of the plan belongs.
  constexpr int whole(int l) const { return parts.empty() ? l : parts[l].layer; }
  /// Whether layer l computes that layer's operator; else it cuts out or puts together results.
  constexpr bool is_own(int l) const { return parts.empty() || parts[l].is_own(); }
  /// The network's own layers.
  constexpr const graph::network_view& network_layers() const { return parts.empty() ? layers : whole_layers; }
  /// The layer of the plan that is layer `layer` of the network, which is not split.
  int planned(int layer) const {
    int l = 0;
    while (whole(l) != layer || (!parts.empty() && parts[l].what != parts::part::kind::whole)) ++l;
    return l;
  }
  int ranks() const { return static_cast<int>(plan.ranks.size()); }
  /// Whether it can run rank `r`.
  bool has(int r) const { return here.empty() || here[r]; }
  bool has_all() const { return std::find(here.begin(), here.end(), false) == here.end(); }
  /// Opens the accelerator of rank `r`; null if the rank has none.
  constexpr kernels::opener opener(std::size_t r) const {
    return r < units.size() ? open[algorithm::backend_of(units[r])] : nullptr;
  }
  /// Converts the tensors of rank `r`; null if its kernels read and write plain tensors only.
  constexpr kernels::converter converter(std::size_t r) const {
    return r < units.size() ? convert[algorithm::backend_of(units[r])] : nullptr;
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
