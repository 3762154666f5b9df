// What a step reads lies where it was written, as the step takes it.
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
  meta::array<place> at(n), copy(n);
  meta::array<int> carrier;  // by tensor: the message that has it, if any message has others than its own
  meta::array<std::int64_t> within;
  for (const auto& r : p.ranks) {
    for (int l = 0; l < n; ++l) at.first[l] = copy.first[l] = none;
    for (int t = 0; t < carrier.size(); ++t) carrier.first[t] = -1;
    each_carried(p, net, r.rank, [&](int t, int m, std::int64_t offset) {
      if (carrier.empty()) carrier = meta::array<int>(n, -1), within = meta::array<std::int64_t>(n, 0);
      carrier.first[t] = m, within.first[t] = offset;
    });
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto matches = [&](int l, const place& from) {
        if (step.what == action::compute && copy.first[l].offset != detail::unknown && from == copy.first[l]) return true;
        const auto& is = at.first[l];
        return is.offset == detail::unknown ? from == detail::written_at(l, at, net) : from == is;
      };
      if (!detail::reads_all(p, net, step, matches)) return false;
      if (step.what == action::convert) {
        const auto& from = p.operands.first[step.first_operand];
        if (step.output.stored.element != from.stored.element || from.stored.pitch != 0) return false;
        if (!detail::converts_result(p, step)) {
          copy.first[step.layer] = step.output;
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
      if (step.output.stored.element != net.layers.first[step.layer].output.element) return false;
      is = step.output;
    }
  }
  return true;
}

/// Each kernel gets its operands, and writes its result, in the layouts in which it works. `algorithms`: of each layer as
/// the anchor of a group.
constexpr bool layouts_fit(const plan_view& p, const graph::network_view& net, meta::view<algorithm::choice> algorithms) {
  for (const auto& step : p.steps) {
    if (step.what != action::compute) continue;
    const auto& g = p.groups.first[step.group];
    const auto& how = algorithms.first[g.anchor];
    const auto stored = step.output.stored.layout;
    const auto fits = [&](int l, const place& at, tensor::layout as) {
      return !algorithm::must_convert(net.layers.first[l].output, at.stored.layout, as);
    };
    const auto in = net.into(g.anchor);
    const auto* operands = p.operands.first + step.first_operand;
    for (std::size_t k = 0; k < in.size(); ++k)
      if (!fits(in[k].from, operands[k], how.reads(stored))) return false;
    if (g.residual >= 0 && !fits(step.layer, operands[in.size()], how.writes(stored))) return false;
    if (!fits(step.layer, step.output, how.writes(stored))) return false;
  }
  return true;
}

}  // namespace dice::schedule
