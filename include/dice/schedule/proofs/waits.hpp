// A plan's ranks do not wait for each other for ever.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/schedule/program.hpp"

#include <cstdint>

namespace dice::schedule {

/// No cycle of waits, whatever the number of frames. Within one frame, a segment waits for the previous segment of its rank
/// and for those that send its messages: this graph must have no cycle. Between frames, a segment waits only for older
/// frames: for itself, for its rank's slot (held by a frame `slots` older) and for the window (`in_flight` older). So the
/// oldest frame under way can always proceed, given at least one slot and one frame in flight.
constexpr bool no_wait_cycle(const plan_view& p) {
  if (p.in_flight < 1) return false;
  for (const auto& r : p.ranks)
    if (r.slots < 1) return false;
  const int segments = static_cast<int>(p.segments.size()), messages = static_cast<int>(p.messages.size());
  meta::array<int> receiver(messages, -1);  // segment that receives each message
  meta::array<int> waits(segments);         // number of waits left for each segment
  for (const auto& r : p.ranks)
    for (int g = r.first_segment; g < r.last_segment; ++g) {
      waits.first[g] += g > r.first_segment;
      for (int s = p.segments.first[g].first_step; s < p.segments.first[g].last_step; ++s)
        if (p.steps.first[s].what == action::receive) {
          receiver.first[p.steps.first[s].message] = g;
          ++waits.first[g];
        }
    }
  meta::array<char> ends_rank(segments);
  for (const auto& r : p.ranks)
    if (r.last_segment > r.first_segment) ends_rank.first[r.last_segment - 1] = 1;
  // Kahn's topological order.
  meta::array<int> ready;
  ready.reserve(segments);
  for (int g = 0; g < segments; ++g)
    if (waits.first[g] == 0) ready.push_back(g);
  for (int i = 0; i < ready.size(); ++i) {
    const int g = ready.first[i];
    const auto release = [&](int other) {
      if (--waits.first[other] == 0) ready.push_back(other);
    };
    for (int s = p.segments.first[g].first_step; s < p.segments.first[g].last_step; ++s)
      if (p.steps.first[s].what == action::send) {
        if (receiver.first[p.steps.first[s].message] < 0) return false;
        release(receiver.first[p.steps.first[s].message]);
      }
    if (!ends_rank.first[g]) release(g + 1);
  }
  return ready.size() == segments;
}

}  // namespace dice::schedule
