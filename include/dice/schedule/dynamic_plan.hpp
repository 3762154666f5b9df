// The plan of a mapping given at run time: does with values what static_plan.hpp does with types.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/proofs.hpp"
#include "dice/placement/assign.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/written.hpp"
#include "dice/schedule/limits.hpp"
#include "dice/schedule/proofs.hpp"
#include "dice/schedule/split_plan.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::schedule {

/// Whether a plan is proved to be sound. One that is only rated need not be.
enum class proofs : bool { omitted, made };

namespace detail {

/// Whether all proofs of a plan hold. `algorithms`: of each layer as the anchor of a group; `whole` and `operators`: of the
/// network whose parts they are, if it is a network of parts.
[[gnu::cold]] inline bool are_sound(const plan_view& p, const parts::parts_view& all,
                                    meta::view<algorithm::choice> algorithms, const graph::network_view& whole,
                                    meta::view<graph::any_operator> operators) {
  return sound(p, all.net, all.parts) && turns_match(p, all) && layouts_fit(p, all.net, algorithms) &&
         (all.parts.empty() || parts::parts_match(whole, operators, all));
}

}  // namespace detail

/// A plan for a network and the algorithms of a program, or the mapping's first mistake. Can be moved, not copied. Its cores
/// and host names refer to the mapping's memory.
class dynamic_plan {
 public:
  /// `tables` has the algorithms of every backend in the program and is empty for the others. For mappings that split
  /// layers, `operators` and `parameters` are those of the network's layers. Throws
  /// std::logic_error if the plan is proved to be unsound, which is a bug in dice.
  [[gnu::cold]] dynamic_plan(const graph::network_view& net, const placement::written_mapping& m,
                             const algorithm::tables& tables, meta::view<graph::any_operator> operators = {},
                             meta::view<meta::view<graph::parameter>> parameters = {}, proofs wanted = proofs::made) {
    unsigned processors = 0;
    algorithm::for_each_backend([&]<algorithm::backend B>() {
      if (!tables.chosen[B].empty()) processors |= platform::bit(algorithm::processor_of(B));
    });
    if ((mistake_ = placement::check(m, net, processors)) || (mistake_ = without_backend(m, tables))) return;
    devices_.resize(placement::count_devices(m));
    const int in_flight = placement::assign_devices(m, devices_.data());
    const auto where = placement::assign_work_items(m, net.size());
    std::vector<algorithm::choice> by_layer(static_cast<std::size_t>(net.size()));
    if (where.view().splits()) {
      detail::whole_algorithms whole(tables, net, operators, where.view(), devices_);
      auto built = build_split({net, operators, where.view(), devices_, {}, parameters}, whole, in_flight);
      plan_ = std::move(built.plan);
      network_ = std::move(built.net);
      by_layer.assign(built.algorithms.begin(), built.algorithms.end());
      parts_ = network_.view();
    } else {
      plan_ = build({net, where.view().owner, devices_, by_layer, in_flight}, tables, by_layer);
      parts_.net = net;
    }
    if (wanted == proofs::made && !detail::are_sound(plan_.view(), parts_, by_layer, net, operators))
      throw std::logic_error("internal error, please report: the plan of this mapping is unsound");
    if ((mistake_ = check_limits(plan_.view(), devices_))) return;
    for (const auto& g : plan_.groups) algorithms_.push_back(by_layer[g.anchor]);
    for (const auto& d : devices_) {
      units_.push_back(d.unit);
      cores_.push_back(d.cores);
      hosts_.push_back(d.host);
    }
  }
  dynamic_plan(dynamic_plan&&) = default;
  dynamic_plan& operator=(dynamic_plan&&) = default;

  /// If there is a mistake, the other members must not be used.
  const placement::finding& mistake() const { return mistake_; }
  plan_view view() const { return plan_.view(); }
  /// The network whose layers the plan refers to.
  const parts::parts_view& parts() const { return parts_; }
  std::span<const algorithm::choice> algorithms() const { return algorithms_; }  ///< by fusion group
  std::span<const platform::device> devices() const { return devices_; }         ///< by rank, like those below
  std::span<const platform::unit> units() const { return units_; }
  std::span<const std::span<const int>> cores() const { return cores_; }
  std::span<const std::string_view> hosts() const { return hosts_; }
  /// The backend that computes a fusion group.
  algorithm::backend backend_of(const group& g) const { return algorithm::backend_of(units_[g.rank]); }

 private:
  static placement::finding without_backend(const placement::written_mapping& m, const algorithm::tables& tables) {
    int at = 0;
    for (const auto& e : m.entries) {
      const auto on = platform::device_of(e.dev).unit;
      if (e.what == placement::entry::kind::dev && tables.chosen[algorithm::method_of(on)].empty())
        return {placement::mistake::unit_without_backend, at, 0, on.index};
      ++at;
    }
    return {};
  }

  placement::finding mistake_;
  built_plan plan_;
  parts::network network_;
  parts::parts_view parts_;
  std::vector<algorithm::choice> algorithms_;
  std::vector<platform::device> devices_;
  std::vector<platform::unit> units_;
  std::vector<std::span<const int>> cores_;
  std::vector<std::string_view> hosts_;
};

}  // namespace dice::schedule
