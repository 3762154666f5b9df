// The search for least energy. Idle energy grows with the period, which only the slowest stage determines, so a partial
// mapping is rarely as good as another in every criterion. Within a narrow interval of periods it often nearly is: the
// search halves intervals until few partial mappings are left or the interval is narrow (branch and bound).
#pragma once

#include "dice/partition/bounds.hpp"
#include "dice/partition/fill.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/labels.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/routes.hpp"
#include "dice/partition/sum_rest.hpp"

#include <algorithm>
#include <climits>

namespace dice::partition::detail {

class energy_search {
 public:
  /// `latency` may be null if latency has no limit. An interval with more than `max_labels` partial mappings is halved.
  constexpr energy_search(const problem& p, const routes& r, const goal& g, progress tell, const sum_rest* latency,
                          int max_labels)
      : p_(p),
        r_(r),
        g_(g),
        tell_(tell),
        latency_(latency),
        max_labels_(max_labels),
        transfers_(transfers_of(p, r)),
        before_(bounds(p, g, false).before(g.best)) {}

  /// The best mapping, if it is better than `best`, which may be empty; else `best`.
  constexpr solution run(const solution& best) {
    best_ = best;
    const double first = min_period(p_), last = std::min(longest(), g_.max_period);
    brief_ = first > 0 ? 0 : last / 1024;
    visit(first, last);
    return best_;
  }

 private:
  static constexpr double narrow = 1.02;

  /// Searches periods from `from` to `until`, in s.
  constexpr void visit(double from, double until) {
    if (from > until) return;
    const int turn = visited_++;
    const progress tell = tell_.phase(turn / (turn + 10.0), (turn + 1) / (turn + 11.0));
    tell(0);
    const double known = best_.empty() ? infinity : best_.expected.energy;
    const sum_rest rest(p_, r_, transfers_, before_, known, g_.best, from, until);
    if (rest.whole() >= known * (1 - label_search::rounding)) return;
    goal within = g_;
    within.max_period = until;
    const bool wide = until > std::max(from * narrow, brief_);
    label_search search(p_, r_, within, tell, {latency_, &rest}, wide ? max_labels_ : INT_MAX);
    meta::array<int> path, starts;
    if (search.run(known, path, starts))
      if (const solution found = along(p_, r_, g_.in_order, path, starts); found.expected.energy < known) best_ = found;
    if (search.finished()) return;
    const double middle = until > 4 * from ? std::max(2 * from, brief_) : (from + until) / 2;
    visit(middle, until);
    visit(from, middle);
  }
  /// No useful mapping has a longer period.
  constexpr double longest() const {
    double out = 0;
    for (const double x : transfers_)
      if (x < infinity) out = std::max(out, x);
    for (const auto& c : p_.kinds) {
      double messages = 0;
      for (int k = 0; k <= p_.cut_units; ++k) messages = std::max({messages, c.sending[k], c.receiving[k]});
      out = std::max(out, c.seconds[p_.cut_units] + 2 * messages);
    }
    return out * (1 + 1e-9);
  }

  const problem& p_;
  const routes& r_;
  const goal& g_;
  progress tell_;
  const sum_rest* latency_;
  int max_labels_;
  meta::array<double> transfers_;  ///< by link and cut
  meta::array<double> before_;     ///< by cut unit: least J of the cut units before it
  solution best_{};
  double brief_ = 0;  ///< intervals that end by then, in s, are narrow
  int visited_ = 0;
};

}  // namespace dice::partition::detail
