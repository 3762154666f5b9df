#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/platform/dev.hpp"

namespace dice::schedule {

/// What a plan is built from. `algorithms[l]` is how the backend of layer l's rank computes l as the anchor of a group.
struct plan_input {
  graph::network_view net;
  meta::view<int> owner;  ///< rank of each layer
  meta::view<platform::device> devices;
  meta::view<algorithm::choice> algorithms;
  int in_flight = 1;
  meta::view<parts::part> parts{};  ///< by layer, if it is a network of parts
  meta::view<parts::replica_set> replicas{};
  meta::view<parts::replica> members{};

  /// The frames for which layer l is computed.
  constexpr parts::turn when(int l) const { return replicas.empty() ? parts::turn{} : parts[l].when; }
};

}  // namespace dice::schedule
