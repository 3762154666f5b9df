// The parts of --explain that need a cluster: what was predicted for a run, and which mapping would be faster.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/explanation.hpp"
#include "dice/advice/prediction.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/partition/find.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/connection.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dice::advice {

/// What is predicted for the program's mapping.
[[gnu::cold]] inline predicted_costs predicted(const cluster_model& f, const runtime::program& p) {
  predicted_costs out;
  const auto& links = f.setting.cluster;
  for (int a = 0; a < p.ranks(); ++a)
    for (int b = 0; b < p.ranks(); ++b) out.links.push_back(links.between(f.ranks[a].on_host, f.ranks[b].on_host));
  const auto found = cost::simulate(f.setting, {.net = p.layers, .parts = p.parts}, p.plan, f.ranks);
  out.expected = found.expected;
  out.group_seconds.assign(found.groups.begin(), found.groups.end());
  for (const auto& r : found.ranks) out.message_seconds.push_back(r.messages);
  return out;
}

namespace detail {

/// Sums of measured and of predicted times.
struct ratio {
  double measured = 0, expected = 0;
  bool known() const { return measured > 0 && expected > 0; }
  double value() const { return measured / expected; }
};

/// The problem of finding a mapping, with its times corrected by the run: by ratios of measured to predicted times. On kinds
/// of processors that computed, the cut units of a stage have the stage's ratio, so that the present mapping is predicted as
/// it was measured; other cut units have the kind's ratio. Other kinds of processors have the ratio of all ranks, and links
/// that of the messages that were not seen late.
[[gnu::cold]] inline cost::problem as_seen(const cluster_model& f, const runtime::program& p, const report::seen_run& run,
                                           const predicted_costs& expected) {
  auto out = cost::problem_of(f.setting);
  std::vector<ratio> kinds(static_cast<std::size_t>(out.kinds.size()));
  std::vector<std::vector<ratio>> cut_units(kinds.size(), std::vector<ratio>(static_cast<std::size_t>(out.cut_units)));
  ratio all, links;
  for (int r = 0; r < p.ranks(); ++r) {
    ratio mine{run.busy[r], 0};
    for (const auto& s : run.stages)
      if (s.rank == r) mine.expected += expected_of(expected, s);
    all.measured += mine.measured;
    all.expected += mine.expected;
    std::vector<bool> counted(kinds.size());
    for (const auto& d : out.devices) {
      const auto& placed = f.ranks[r];
      const auto kind = static_cast<std::size_t>(d.kind);
      if (d.host != placed.on_host || counted[kind] || cost::share_of(f.setting.cluster, d.processor, placed) <= 0) continue;
      counted[kind] = true;
      kinds[kind].measured += mine.measured;
      kinds[kind].expected += mine.expected;
      if (!p.parts.empty()) continue;  // their groups compute parts of layers
      for (const auto& s : run.stages) {
        if (s.rank != r) continue;
        for (const auto g : s.groups) {
          auto& cut_unit = cut_units[kind][out.cut_unit_of[p.plan.groups[g].anchor]];
          cut_unit.measured += s.seconds;
          cut_unit.expected += expected_of(expected, s);
        }
      }
    }
  }
  for (const auto& l : run.links)
    if (!seen_late(run, l)) {
      links.measured += l.seconds;
      links.expected += expected_of(expected, p, l);
    }
  for (int k = 0; k < out.kinds.size(); ++k) {
    const auto& own = kinds[k];
    const double times = own.known() ? own.value() : all.known() ? all.value() : 1;
    double before = 0, sum = 0;
    for (int cut_unit = 0; cut_unit < out.cut_units; ++cut_unit) {
      auto& after = out.kinds[k].seconds[cut_unit + 1];
      const auto& seen = cut_units[k][cut_unit];
      sum += (after - before) * (seen.known() ? seen.value() : times);
      before = after;
      after = sum;
    }
  }
  if (links.known())
    for (auto& l : out.links) {
      l.seconds *= links.value();
      l.bytes_per_s /= links.value();
    }
  cost::complete(out);
  return out;
}

/// A cluster model whose times are those of problem `seen`, as as_seen makes it.
class seen_model {
 public:
  [[gnu::cold]] seen_model(const cluster_model& f, const cost::problem& seen)
      : links_(seen.links.begin(), seen.links.end()) {
    const auto before = cost::problem_of(f.setting);
    for (std::size_t k = 0; k < f.setting.seconds.size(); ++k) {
      auto& all = seconds_.emplace_back(f.setting.seconds[k].begin(), f.setting.seconds[k].end());
      const auto* kind = static_cast<const cost::device*>(nullptr);
      for (const auto& d : before.devices)
        if (d.processor == static_cast<int>(k)) kind = &d;
      for (std::size_t l = 0; kind && l < all.size(); ++l) {
        const int unit = before.cut_unit_of[static_cast<int>(l)];
        const auto time = [&](const cost::problem& p) {
          const auto& s = p.kinds[kind->kind].seconds;
          return s[unit + 1] - s[unit];
        };
        if (const double stated = time(before); stated > 0) all[l] *= time(seen) / stated;
      }
    }
    for (const auto& s : seconds_) spans_.push_back(s);
    model_ = f;
    model_.setting.seconds = spans_;
    model_.setting.cluster.links = links_;
  }
  seen_model(const seen_model&) = delete;
  seen_model& operator=(const seen_model&) = delete;

  const cluster_model& model() const { return model_; }

 private:
  std::vector<std::vector<double>> seconds_;
  std::vector<std::span<const double>> spans_;
  std::vector<platform::link> links_;
  cluster_model model_;
};

}  // namespace detail
}  // namespace dice::advice
