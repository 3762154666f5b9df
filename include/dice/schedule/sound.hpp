// All proofs of a plan but turns_match.
#pragma once

#include "dice/schedule/contents.hpp"
#include "dice/schedule/proofs.hpp"

namespace dice::schedule {

/// Whether a plan is sound; `all`: the parts, if it is a network of parts.
constexpr bool sound(const plan_view& p, const graph::network_view& net, meta::view<parts::part> all = {}) {
  return messages_match(p, net) && reads_follow_writes(p, net, all) && places_match(p, net) && buffers_disjoint(p, net) &&
         places_in_buffers(p, net) && kept_until_read(p, net, all) && no_wait_cycle(p);
}

}  // namespace dice::schedule
