// With replicas, a plan's steps run for the right frames.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/program.hpp"

#include <cstdint>

namespace dice::schedule {

/// With replicas: each step runs for the frames for which its tensors are made and wanted. A layer that is computed for some
/// frames only reads what is made for these or for all; a layer that reads what replicas have made picks from all of them,
/// in memory that holds nothing else.
constexpr bool turns_match(const plan_view& p, const parts::parts_view& all) {
  if (p.replicas.empty()) return true;
  const auto& net = all.net;
  const auto when = [&](int l) { return all.parts[l].when; };
  const auto suits = [](const parts::turn& made, const parts::turn& read) { return made.always() || made == read; };
  meta::array<int> message_of(net.size() * static_cast<int>(p.ranks.size()), -1);  // by tensor and receiver
  for (int m = 0; m < static_cast<int>(p.messages.size()); ++m) {
    const auto& msg = p.messages.first[m];
    if (msg.made != when(msg.layer)) return false;
    message_of[msg.layer * static_cast<int>(p.ranks.size()) + msg.to] = m;
  }
  for (const auto& r : p.ranks)
    each_carried(p, net, r.rank,
                 [&](int t, int m, std::int64_t) { message_of[t * static_cast<int>(p.ranks.size()) + r.rank] = m; });
  for (int l = 0; l < net.size(); ++l) {
    const auto& layer = net.layers.first[l];
    if (!when(l).always() && (layer.is_input || layer.is_output)) return false;
    if (!when(l).always() && (when(l).set >= static_cast<int>(p.replicas.size()) || when(l).member < 0 ||
                              when(l).member >= p.replicas[when(l).set].members))
      return false;
    if (!when(l).always() && all.is_own(l) &&
        p.members[p.replicas[when(l).set].first + when(l).member].rank != p.owner.first[l])
      return false;
    const bool picks = all.parts[l].what == parts::part::kind::pick;
    if (picks && (layer.view != 0 || layer.edges < 2)) return false;
    int k = 0;
    for (const auto& e : net.into(l)) {
      const auto made = when(e.from);
      const bool own = p.owner.first[e.from] == p.owner.first[l];
      const int m = own ? -1 : message_of[e.from * static_cast<int>(p.ranks.size()) + p.owner.first[l]];
      if (!own && (m < 0 || !suits(p.messages.first[m].read, when(l)) || p.messages.first[m].made != made)) return false;
      if (!picks && !suits(made, when(l))) return false;
      if (picks && (made.always() || made.set != when(net.into(l)[0].from).set || made.member != k ||
                    layer.edges != p.replicas[made.set].members))
        return false;
      if (picks && own && (net.layers.first[e.from].view >= 0 || net.layers.first[e.from].is_concat)) return false;
      ++k;
    }
  }
  for (const auto& g : p.segments)
    for (int s = g.first_step; s < g.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const int for_layer = step.what == action::convert ? p.groups.first[step.group].output() : step.layer;
      const auto frames = step.what == action::receive ? p.messages.first[step.message].read : when(for_layer);
      if (frames != g.when) return false;
    }
  for (const auto& g : p.groups)
    for (const int l : g.layers())
      if (l >= 0 && when(l) != when(g.anchor)) return false;
  return true;
}

}  // namespace dice::schedule
