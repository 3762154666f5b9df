// Every step reads only what was written before.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/program.hpp"
#include "dice/schedule/proofs/reads.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::schedule {

namespace detail {

/// Whether a step may compute its region of the result: the region lies in the result, and a layer that may overwrite its
/// operand is computed at once.
constexpr bool may_compute(const plan_view& p, const graph::network_view& net, const step& s) {
  const auto whole = tensor::whole(net.layers.first[s.layer].output);
  return s.part == whole || (tensor::contains(whole, s.part) && !net.layers.first[p.groups.first[s.group].anchor].in_place);
}

/// The steps that compute one tensor region by region.
class regions {
 public:
  constexpr explicit regions(const plan_view& p) : plan_(p), before_(static_cast<int>(p.steps.count), -1) {}

  /// Step s computes a region that step `before` and those before it did not; -1: it is the first.
  constexpr void add(int s, int before) { before_.first[s] = before; }
  /// Whether the regions of the steps up to s are disjoint and cover `box` of a tensor of shape `of`.
  constexpr bool cover(int s, const tensor::region& box, const tensor::shape& of) const {
    if (before_.first[s] < 0 && plan_.steps.first[s].part == box) return true;
    std::int64_t covered = 0;
    for (int i = s; i >= 0; i = before_.first[i]) {
      const auto& region = plan_.steps.first[i].part;
      for (int j = before_.first[i]; j >= 0; j = before_.first[j])
        if (!tensor::empty(tensor::intersect(region, plan_.steps.first[j].part))) return false;
      if (const auto common = tensor::intersect(region, box); !tensor::empty(common))
        covered += tensor::elements(common, of);
    }
    return covered == tensor::elements(box, of);
  }
  /// The last of the steps up to s that comes before step `end`, or -1.
  constexpr int last_before(int end, int s) const {
    while (s >= end) s = before_.first[s];
    return s;
  }

 private:
  const plan_view& plan_;
  meta::array<int> before_;  ///< by step: the one before of the same tensor, or -1
};

}  // namespace detail

/// Everything that a step reads, sends or outputs was complete on its rank before: received, entered or computed there. A
/// cut only needs the region that it cuts out; `all`: the parts, if it is a network of parts.
constexpr bool reads_follow_writes(const plan_view& p, const graph::network_view& net, meta::view<parts::part> all = {}) {
  const int n = net.size();
  meta::array<int> written(n);
  detail::regions computed(p);
  for (const auto& r : p.ranks) {
    for (int l = 0; l < n; ++l) written.first[l] = p.owner.first[l] == r.rank ? -1 : detail::never;
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      auto& last = written.first[step.layer];
      if (step.what == action::compute) {
        if (last == detail::never || !detail::may_compute(p, net, step)) return false;
        computed.add(s, last);
      }
      if (step.what == action::compute || step.what == action::receive || step.what == action::enter) last = s;
    }
    for (int s = r.first_step; s < r.last_step; ++s) {  // all of a tensor is computed
      const auto& step = p.steps.first[s];
      const auto& shape = net.layers.first[step.layer].output;
      if (step.what == action::compute && written.first[step.layer] == s && !computed.cover(s, tensor::whole(shape), shape))
        return false;
    }
    each_carried(p, net, r.rank,
                 [&](int t, int m, std::int64_t) { written.first[t] = written.first[p.messages.first[m].layer]; });
    for (int s = r.first_step; s < r.last_step; ++s) {
      const auto& step = p.steps.first[s];
      const auto ready = [&](int l, const place&) {
        int at = written.first[l];
        if (at < 0) at = detail::completed(l, written, net);
        if (at < s) return true;
        if (all.empty() || at == detail::never || step.what != action::compute ||
            all.first[step.layer].what != parts::part::kind::cut)
          return false;
        const auto& last = p.steps.first[at];
        if (last.what != action::compute || last.layer != l) return false;
        at = computed.last_before(s, at);
        auto box = all.first[step.layer].box;
        const auto& from = all.first[l].box;
        for (int a = 0; a < tensor::region::axes; ++a) {
          box.begin[a] -= from.begin[a];
          box.end[a] -= from.begin[a];
        }
        return at >= 0 && computed.cover(at, box, net.layers.first[l].output);
      };
      if (!detail::reads_all(p, net, step, ready)) return false;
    }
  }
  return true;
}

}  // namespace dice::schedule
