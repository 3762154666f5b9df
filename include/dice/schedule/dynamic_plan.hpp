// The plan of a mapping that came at run time: what static_plan.hpp does with types, with values.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/place.hpp"
#include "dice/placement/written.hpp"
#include "dice/schedule/limits.hpp"
#include "dice/schedule/proofs.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace dice::schedule {

/// A plan for a network and the algorithms of a program, or the mapping's first mistake. Moved, not copied. Of the mapping
/// it keeps cores and names of hosts, which lie there.
class dynamic_plan {
 public:
  /// `tables` has the algorithms of every backend that the program has, empty for others. Throws std::logic_error if the
  /// plan is unsound, which is dice's own mistake.
  [[gnu::cold]] dynamic_plan(const graph::network_view& net, const placement::written_mapping& m,
                             const algorithm::tables& tables) {
    bool gpus = false;
    for (std::size_t b = 0; b < tables.chosen.size(); ++b)
      gpus = gpus || (algorithm::is_cudnn(static_cast<algorithm::backend>(b)) && !tables.chosen[b].empty());
    if ((mistake_ = placement::check(m, net, gpus)) || (mistake_ = without_backend(m, tables))) return;
    const auto layers = static_cast<std::size_t>(net.size());
    std::vector<int> owner(layers);
    devices_.resize(static_cast<std::size_t>(placement::count_devices(m)));
    const int in_flight = placement::place(m, net.size(), owner.data(), devices_.data());
    std::vector<algorithm::choice> by_layer(layers);
    plan_ = build({net, owner, devices_, by_layer, in_flight}, tables, by_layer);
    if (!sound(plan_.view(), net))
      throw std::logic_error("dice is wrong, please report: the plan of this mapping is unsound");
    if ((mistake_ = check_limits(plan_.view(), devices_))) return;
    for (const auto& g : plan_.groups) algorithms_.push_back(by_layer[static_cast<std::size_t>(g.anchor)]);
    for (const auto& d : devices_) units_.push_back(d.on), cores_.push_back(d.cores), hosts_.push_back(d.host);
  }
  dynamic_plan(dynamic_plan&&) = default;
  dynamic_plan& operator=(dynamic_plan&&) = default;

  /// With a mistake the rest is not to be used.
  const placement::finding& mistake() const { return mistake_; }
  plan_view view() const { return plan_.view(); }
  std::span<const algorithm::choice> algorithms() const { return algorithms_; }  ///< by fusion group
  std::span<const platform::device> devices() const { return devices_; }         ///< by rank, as those that follow
  std::span<const platform::unit> units() const { return units_; }
  std::span<const std::span<const int>> cores() const { return cores_; }
  std::span<const std::string_view> hosts() const { return hosts_; }
  /// The backend that computes a fusion group.
  algorithm::backend backend_of(const group& g) const {
    return algorithm::backend_of(units_[static_cast<std::size_t>(g.rank)]);
  }

 private:
  static placement::finding without_backend(const placement::written_mapping& m, const algorithm::tables& tables) {
    int at = 0;
    for (const auto& e : m.entries) {
      const auto on = platform::device_of(e.dev).on;
      if (e.what == placement::entry::kind::dev &&
          tables.chosen[static_cast<std::size_t>(algorithm::backend_of(on))].empty())
        return {placement::mistake::no_backend, at, 0, on.gpu_index};
      ++at;
    }
    return {};
  }

  placement::finding mistake_;
  built_plan plan_;
  std::vector<algorithm::choice> algorithms_;
  std::vector<platform::device> devices_;
  std::vector<platform::unit> units_;
  std::vector<std::span<const int>> cores_;
  std::vector<std::string_view> hosts_;
};

}  // namespace dice::schedule
