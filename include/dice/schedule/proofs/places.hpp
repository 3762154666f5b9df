// Every step reads a tensor where and as it was written.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/program.hpp"
#include "dice/schedule/proofs/reads.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::schedule {

/// Every step reads, sends or outputs a tensor at the place and in the layout in which its rank wrote it: a view within its
/// operand, a Concat joined in place where its operands lie one after the other.
constexpr bool places_match(const plan_view& p, const graph::network_view& net) {
  const int n = net.size();
  const place none{.offset = detail::unknown};
  meta::array<place> at(n);
  meta::array<int> copied;   // by tensor: the step that made its last copy, if there are any
  meta::array<int> carrier;  // by tensor: the message that has it, if any message has others than its own
  meta::array<std::int64_t> within;
  for (const auto& r : p.ranks) {
    for (int l = 0; l < n; ++l) at.first[l] = none;
    for (int t = 0; t < carrier.size(); ++t) carrier.first[t] = -1;
    each_carried(p, net, r.rank, [&](int t, int m, std::int64_t offset) {
      if (carrier.empty()) {
        carrier = meta::array<int>(n, -1);
        within = meta::array<std::int64_t>(n, 0);
      }
      carrier.first[t] = m;
      within.first[t] = offset;
    });
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto matches = [&](int l, const place& from) {
        if (step.what == action::compute && !copied.empty() && copied.first[l] >= r.first_step &&
            from == p.steps.first[copied.first[l]].output)
          return true;
        const auto& is = at.first[l];
        return is.offset == detail::unknown ? from == detail::written_at(l, at, net) : from == is;
      };
      if (!detail::reads_all(p, net, step, matches)) return false;
      if (step.what == action::convert) {
        const auto& from = p.operands.first[step.first_operand];
        if (step.output.element != from.element || from.pitch != 0) return false;
        if (!detail::converts_result(p, step)) {
          if (copied.empty()) copied = meta::array<int>(n, -1);
          copied.first[step.layer] = s;
          continue;
        }
        const auto& before = p.steps.first[s - 1];
        if (s == r.first_step || before.what != action::compute || before.group != step.group || before.output != from)
          return false;
        at.first[step.layer] = step.output;
      }
      if (step.what == action::receive) {
        at.first[step.layer] = p.messages.first[step.message].at_receiver;
        if (carrier.empty()) continue;
        each_joined(net, step.layer, [&](int t, std::int64_t) {
          if (carrier.first[t] != step.message) return;
          at.first[t] = at.first[step.layer];
          at.first[t].offset += within.first[t] * net.layers.first[t].output.element_bytes();
        });
      }
      if (step.what != action::enter && step.what != action::compute) continue;
      auto& is = at.first[step.layer];
      if (is.offset >= 0 && is != step.output) return false;  // another region lies elsewhere
      if (step.output.element != net.layers.first[step.layer].output.element) return false;
      is = step.output;
    }
  }
  return true;
}

/// Each kernel gets its operands, and writes its result, in the layouts in which it works. `algorithms`: of each layer as
/// the anchor of a group.
constexpr bool layouts_fit(const plan_view& p, const graph::network_view& net, meta::view<algorithm::choice> algorithms) {
  const auto must = [&](int l, tensor::layout is, tensor::layout as) {
    return algorithm::must_convert(net.layers.first[l].output, is, as);
  };
  for (const auto& step : p.steps) {
    if (step.what != action::compute) continue;
    const auto& g = p.groups.first[step.group];
    const auto& how = algorithms.first[g.anchor];
    // Written out, since calls are expensive at compile time.
    const bool blocks = how.works == algorithm::form::either ? step.output.layout == tensor::layout::blocked
                                                             : how.works == algorithm::form::blocked;
    const auto in = blocks ? tensor::layout::blocked : tensor::layout::plain;
    const auto out = how.works == algorithm::form::first ? tensor::layout::blocked : in;
    const auto* operands = p.operands.first + step.first_operand;
    const auto* edges = net.edges.first + net.layers.first[g.anchor].first_edge;
    const int count = net.layers.first[g.anchor].edges;
    for (int k = 0; k < count; ++k)
      if (operands[k].layout != in && must(edges[k].from, operands[k].layout, in)) return false;
    if (g.residual >= 0 && operands[count].layout != out && must(step.layer, operands[count].layout, out)) return false;
    if (step.output.layout != out && must(step.layer, step.output.layout, out)) return false;
  }
  return true;
}

}  // namespace dice::schedule
