// Rates mappings at run time: from a mapping as values to a prediction.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/view.hpp"
#include "dice/placement/finding.hpp"
#include "dice/placement/written.hpp"
#include "dice/schedule/dynamic_plan.hpp"

#include <cstddef>
#include <vector>

namespace dice::cost {

/// What a mapping is worth.
struct rating {
  placement::finding mistake{};  ///< the mapping's first one; then nothing is predicted
  int misplaced = -1;            ///< else the first rank on no host of the cluster, or whose unit its host lacks
  simulated frame{};             ///< else what its plan is predicted to take

  bool is_right() const { return !mistake && misplaced < 0; }
};

/// Rates mappings of a network on a cluster (how many a second: bench_planning). It makes the plan of each and simulates a
/// frame, but neither proves the plan nor knows which kernels there are: a mapping that is kept becomes a program, and that
/// checks both. Several threads may use one evaluator.
class evaluator {
 public:
  /// `tables` has the algorithms of all backends that mappings may use; `operators` and `parameters` are those of the
  /// network's layers. Refers to all of them.
  evaluator(const setting& on, const algorithm::tables& tables, meta::view<graph::any_operator> operators,
            meta::view<meta::view<graph::parameter>> parameters)
      : on_(on), tables_(tables), operators_(operators), parameters_(parameters) {}

  /// Memory in bytes, times in s. Ranks without on<…> take the hosts in order. Throws std::logic_error, which is
  /// a bug in dice.
  rating rate(const placement::written_mapping& m) const {
    rating out;
    const schedule::dynamic_plan plan(on_.net, m, tables_, operators_, parameters_, schedule::proofs::omitted);
    if ((out.mistake = plan.mistake())) return out;
    std::vector<placed_rank> ranks(plan.devices().size());
    place_ranks(plan.devices(), on_.cluster, ranks.data());
    if ((out.misplaced = misplaced_rank(ranks, on_.cluster)) >= 0) return out;
    out.frame = simulate(on_, plan.parts(), plan.view(), ranks);
    return out;
  }

 private:
  const setting& on_;
  const algorithm::tables& tables_;
  meta::view<graph::any_operator> operators_;
  meta::view<meta::view<graph::parameter>> parameters_;
};

}  // namespace dice::cost
