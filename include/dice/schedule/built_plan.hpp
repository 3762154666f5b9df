// What a plan is built from, and the plan.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/program.hpp"

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

/// A plan that owns its arrays. Not named `plan`: g++ would suggest that name to users whose alias it rejects.
struct built_plan {
  int in_flight = 1;
  meta::array<rank_program> ranks;
  meta::array<segment> segments;
  meta::array<step> steps;
  meta::array<place> operands;
  meta::array<group> groups;
  meta::array<message> messages;
  meta::array<buffer> buffers;
  meta::array<int> owner;
  meta::array<parts::replica_set> replicas{};
  meta::array<parts::replica> members{};

  constexpr plan_view view() const {
    return {in_flight, ranks, segments, steps, operands, groups, messages, buffers, owner, replicas, members};
  }
};

}  // namespace dice::schedule
