// A plan's messages have both ends.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/schedule/program.hpp"

#include <cstddef>

namespace dice::schedule {

/// Every message is sent by one step of its sender and received by one step of its receiver, in one layout, dense and with
/// its tensor's size. Tags are positive and unique for each sender and receiver.
constexpr bool messages_match(const plan_view& p, const graph::network_view& net) {
  const int n = static_cast<int>(p.messages.size()), ranks = static_cast<int>(p.ranks.size());
  meta::array<int> sends(n), receives(n);
  meta::array<int> tags(ranks * ranks);  // messages of a pair come with tags 1, 2, 3, …
  for (int m = 0; m < n; ++m) {
    const auto& msg = p.messages.first[m];
    if (msg.from == msg.to || msg.from < 0 || msg.to < 0 || msg.from >= ranks || msg.to >= ranks || msg.bytes <= 0)
      return false;
    if (msg.tag != ++tags.first[msg.from * ranks + msg.to] || p.owner.first[msg.layer] != msg.from) return false;
    const auto& shape = net.layers.first[msg.layer].output;
    if (msg.bytes != tensor::bytes(shape, msg.at_sender.stored())) return false;
    if (msg.at_sender.stored() != msg.at_receiver.stored() || msg.at_sender.pitch != 0) return false;
    if (msg.at_sender.where != space::frame || msg.at_receiver.where != space::frame) return false;
  }
  for (const auto& r : p.ranks)
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      if (step.what == action::send) {
        if (p.messages.first[step.message].from != r.rank || p.messages.first[step.message].layer != step.layer)
          return false;
        ++sends.first[step.message];
      } else if (step.what == action::receive) {
        if (p.messages.first[step.message].to != r.rank || p.messages.first[step.message].layer != step.layer) return false;
        ++receives.first[step.message];
      }
    }
  for (int m = 0; m < n; ++m)
    if (sends.first[m] != 1 || receives.first[m] != 1) return false;
  return true;
}

}  // namespace dice::schedule
