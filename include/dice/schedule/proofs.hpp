// Properties of every valid plan, checked on its values only: at compile time for a mapping, at run time in tests and
// searches.
#pragma once

#include "dice/schedule/proofs/buffers.hpp"
#include "dice/schedule/proofs/contents.hpp"
#include "dice/schedule/proofs/messages.hpp"
#include "dice/schedule/proofs/order.hpp"
#include "dice/schedule/proofs/places.hpp"
#include "dice/schedule/proofs/turns.hpp"
#include "dice/schedule/proofs/waits.hpp"

namespace dice::schedule {

/// All proofs but turns_match and layouts_fit; `all`: the parts, if it is a network of parts.
constexpr bool sound(const plan_view& p, const graph::network_view& net, meta::view<parts::part> all = {}) {
  return messages_match(p, net) && reads_follow_writes(p, net, all) && places_match(p, net) && buffers_disjoint(p, net) &&
         places_in_buffers(p, net) && kept_until_read(p, net, all) && no_wait_cycle(p);
}

}  // namespace dice::schedule
