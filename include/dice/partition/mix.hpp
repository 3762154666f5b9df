// The search for mixes of stages, splits and replicas at run time. Mappings of a catalogue are searched by what
// section_search counts; the best ones, and mappings that differ from the best one in one thing, are rated by their plans.
#pragma once

#include "dice/cost/arranged.hpp"
#include "dice/cost/arrangement.hpp"
#include "dice/cost/evaluator.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/setting.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/alike_hosts.hpp"
#include "dice/partition/catalogue.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/least_work.hpp"
#include "dice/partition/mix_request.hpp"
#include "dice/partition/neighbours.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/sections.hpp"
#include "dice/partition/written_sections.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::partition {

namespace detail {

class mixer {
 public:
  mixer(const cost::setting& s, const problem& p, const cost::evaluator& rate, meta::view<graph::any_operator> operators,
        const mix_request& r)
      : s_(s),
        p_(p),
        rate_(rate),
        operators_(operators),
        r_(r),
        goal_(r.wanted.aim),
        alike_(p_, goal_),
        limits_(limits_of(s.cluster, r.wanted.memory)) {
    out_.cut_units = p.cut_units;
    limited_ = goal_.best == objective::peak_memory || (!r.any_memory && may_exceed(p, span_of(limits_)));
    limit_memory(1);
  }

  /// `known`: a mapping of whole layers; may be empty.
  mix_result run(const mixed& known) {
    try {
      search(known);
    } catch (const stop_search&) {
      out_.stopped = true;
    }
    out_.bound = bound();
    for (auto& [value, m] : best_) out_.best.push_back({m.is, m.expected});
    if (!out_.best.empty()) {
      out_.sections = out_.best.front().first;
      out_.expected = out_.best.front().second;
    }
    return std::move(out_);
  }

 private:
  struct stop_search {};
  struct rated_mix {
    mixed is;
    prediction expected{};
    int busiest = -1;  ///< the device whose time is the period; -1: a port's is
  };
  static constexpr std::size_t kept = 64;  // mappings

  void search(const mixed& known) {
    if (!known.empty()) rate(known, true);
    if (p_.devices.size() > most_devices) return;
    const auto parts = [&](int effort) { return (std::pow(8, effort) - 1) / (std::pow(8, r_.effort) - 1); };
    for (int effort = 1; effort <= r_.effort; ++effort) search(effort, parts(effort - 1), parts(effort));
  }
  /// One effort after the other, so that more of it finds nothing worse.
  void search(int effort, double from, double until) {
    const auto at = [&](double part) { return from + part * (until - from); };
    const auto borders = borders_of(effort);
    out_.catalogue = catalogue(effort, r_.wanted.words);
    const auto& all = out_.catalogue;
    const auto net = network(all);
    out_.arrangements = all.size();
    out_.borders = 0;
    for (int k = 1; k < p_.cut_units; ++k) out_.borders += borders[k];
    rate_pure(all, net);
    out_.mappings = count(net, borders);
    out_.exact = out_.mappings <= r_.few * std::pow(4, effort - 1);
    if (out_.exact) {
      rate_all(all, net, borders);
    } else {
      if (effort == 1) rate_simple(borders, at(0), at(0.2));
      rate_found(all, net, borders, labels(effort), at(0.2), at(0.4));
    }
    refine(all, effort, {goal_.seen_by, at(0.4), until});
  }
  meta::array<arrangement> catalogue(int effort, unsigned words) const {
    const bool frames = goal_.best != objective::latency || goal_.max_period < infinity;
    return catalogue_of(
        p_,
        {.words = words, .effort = effort, .replicas = frames, .input_at = goal_.input_at, .output_at = goal_.output_at});
  }
  cost::arranged_network<> network(const meta::array<arrangement>& all) const {
    return {s_, p_, operators_, all, r_.whole_only, goal_.input_at, goal_.output_at};
  }
  /// Finds mappings of smaller catalogues: a small one, which rules much out, and those with one kind of split.
  void rate_simple(const meta::array<char>& borders, double from, double until) {
    constexpr int words = std::size(placement::work_words);
    for (int word = 0; word < words; ++word) {
      const auto few = catalogue(word == 0 ? 0 : 1, word == 0 ? r_.wanted.words : r_.wanted.words & 1u << word);
      const double step = (until - from) / words;
      if (few.size() > p_.devices.size())
        rate_found(few, network(few), borders, 2, from + word * step, from + (word + 1) * step);
    }
  }
  /// How many partial mappings the search keeps for each cut unit and arrangement: fewer where there are many.
  int labels(int effort) const {
    constexpr double most[]{0, 3, 12, 64}, steps[]{0, 0, 3e7, 3e8};
    return static_cast<int>(
        std::clamp(steps[effort] / (out_.borders + 1.0) / out_.arrangements / out_.arrangements, 3.0, most[effort]));
  }
  /// Cuts before which the arrangement may change.
  meta::array<char> borders_of(int effort) const {
    constexpr int most[]{0, 40, 120, std::numeric_limits<int>::max()};
    return spread_borders(p_, most[effort]);
  }
  /// The search's memory limits: those of plans, times `factor`.
  void limit_memory(double factor) {
    for (auto& d : p_.devices)
      d.memory_limit = r_.any_memory || goal_.best == objective::peak_memory
                           ? no_limit
                           : static_cast<std::int64_t>(std::min(factor * static_cast<double>(limits_[d.processor]),
                                                                static_cast<double>(no_limit)));
  }

  /// The number of mappings of a catalogue.
  double count(const cost::arranged_network<>& net, const meta::array<char>& borders) const {
    std::vector<double> ways(static_cast<std::size_t>(net.size())), next(ways.size());
    for (int k = 0; k < p_.cut_units; ++k) {
      double sum = 0;
      for (const double w : ways) sum += w;
      for (int a = 0; a < net.size(); ++a) {
        const auto i = static_cast<std::size_t>(a);
        next[i] = !net.possible(a, k) ? 0 : k == 0 ? 1 : borders[k] ? sum : ways[i];
      }
      ways.swap(next);
    }
    double out = 0;
    for (const double w : ways) out += w;
    return out;
  }
  void rate_all(const meta::array<arrangement>& all, const cost::arranged_network<>& net, const meta::array<char>& borders) {
    mixed m;
    const std::function<void(int)> extend = [&](int k) {
      if (k == p_.cut_units) {
        rate(m);
        return;
      }
      for (int a = 0; a < net.size(); ++a) {
        if (!net.possible(a, k)) continue;
        if (k > 0 && all[a] == m.back().by) {
          ++m.back().last;
          extend(k + 1);
          --m.back().last;
        } else if (k == 0 || borders[k]) {
          m.push_back({all[a], k, k + 1});
          extend(k + 1);
          m.pop_back();
        }
      }
    };
    extend(0);
  }
  /// Rates mappings in which all cut units that can be in one arrangement are, and others on its first device, or on the one
  /// that the network's input has to be on.
  void rate_pure(const meta::array<arrangement>& all, const cost::arranged_network<>& net) {
    for (int a = p_.devices.size(); a < net.size(); ++a) {
      mixed m;
      for (int k = 0; k < p_.cut_units; ++k) {
        int by = a;
        if (!net.possible(a, k)) {
          by = all[a].devices[0];
          for (int d = 0; d < p_.devices.size() && !net.possible(by, k); ++d) by = d;
        }
        if (m.empty() || !(m.back().by == all[by])) m.push_back({all[by], k, k});
        m.back().last = k + 1;
      }
      if (std::all_of(m.begin(), m.end(), [](const mixed_section& part) { return part.by.is_whole(); })) continue;
      if (const auto expected = rate(m)) out_.pure.push_back({all[a], m, *expected});
    }
  }
  /// Rates the best mappings that the search finds, within the limits as it counts, and if there are none, near them. It
  /// counts more memory than plans need, sometimes less.
  void rate_found(const meta::array<arrangement>& all, const cost::arranged_network<>& net, const meta::array<char>& borders,
                  int labels, double from, double until) {
    const double half = (from + until) / 2;
    const bool memory = limited_ && goal_.best != objective::peak_memory;
    for (const double factor : {1.0, 1.5, 0.8}) {
      if (factor != 1 && (!memory || (factor < 1 && !best_.empty()))) continue;
      limit_memory(factor);
      rate_found(all, net, borders, labels, goal_, {goal_.seen_by, from, half});
    }
    limit_memory(1);
    if (!best_.empty() || (goal_.max_period == infinity && goal_.max_latency == infinity)) return;
    for (const auto best : {objective::latency, objective::throughput}) {
      if ((best == objective::latency ? goal_.max_latency : goal_.max_period) == infinity) continue;
      goal nearly = goal_;
      nearly.best = best;
      nearly.max_period *= 1.3;
      nearly.max_latency *= 1.5;
      rate_found(all, net, borders, labels, nearly, {goal_.seen_by, half, until});
    }
  }
  void rate_found(const meta::array<arrangement>& all, const cost::arranged_network<>& net, const meta::array<char>& borders,
                  int labels, const goal& g, progress tell) {
    const bool latency = g.best == objective::latency || g.max_latency < infinity;
    const bool energy = g.best == objective::energy;
    const bool period = g.best == objective::throughput || energy || g.max_period < infinity;
    section_search found(net, s_, g, {latency, period, energy, limited_}, labels, borders, tell);
    const auto shared = bound_of(net, 60);
    if (g.best == objective::latency || g.best == objective::throughput) found.bound_by(shared);
    found.run(g.best == goal_.best ? counted_ : infinity);
    for (const auto& x : found.solutions(16)) {
      mixed m;
      for (const auto& part : x.sections) m.push_back({all[part.arrangement], part.first, part.last});
      if (rate(m) && g.best == goal_.best) counted_ = std::min(counted_, value_of(g.best, x.expected) * 1.02);
    }
  }

  double value() const { return best_.empty() ? infinity : best_.begin()->first; }

  /// Rates the neighbours of the best mapping, then those of the best one of which they were not rated, and so on.
  void refine(const meta::array<arrangement>& all, int effort, const progress& tell) {
    constexpr int usual[]{0, 1500, 12000, 100000};
    const int most = r_.ratings > 0 ? r_.ratings : usual[effort], until = out_.rated + most;
    std::set<std::vector<int>> done;
    const auto next = [&]() -> const rated_mix* {
      int tried = 0;
      for (const auto& [value, m] : best_)
        if (!done.contains(key_of(m.is))) return &m;
        else if (++tried == 8) break;
      return nullptr;
    };
    for (const auto* now = next(); now && out_.rated < until; now = next()) {
      const rated_mix m = *now;
      done.insert(key_of(m.is));
      const double before = value();
      const neighbourhood near{all, p_.devices.size(), r_.wanted.words, goal_.best != objective::latency};
      near.each(m.is, goal_.best == objective::throughput ? m.busiest : -1, [&](mixed other) {
        if (out_.rated >= until) return true;
        tell(1 - static_cast<double>(until - out_.rated) / most);
        tidy(other);
        rate(other);
        return value() < before * (1 - 1e-6);  // which is the next one
      });
    }
  }
  /// Drops empty sections and joins those in one arrangement.
  void tidy(mixed& m) const {
    mixed out;
    for (auto& part : m) {
      if (part.first >= part.last) continue;
      if (!out.empty() && out.back().by == part.by) out.back().last = part.last;
      else out.push_back(part);
    }
    m = std::move(out);
  }

  /// The plan's figures of a mapping, if it is right, keeps to all limits, and neither it nor the same one on other hosts
  /// that are alike was rated before. One that is `known` is rated even if the search has been stopped.
  std::optional<prediction> rate(const mixed& any, bool known = false) {
    const mixed m = alike_.renamed(any);
    const auto [it, is_new] = seen_.try_emplace(key_of(m), 0);
    if (!is_new) return {};
    if (!known && progress{goal_.seen_by}.stopped()) throw stop_search();
    if (!in_order(m) || !allowed(m)) return {};
    ++out_.rated;
    meta::array<arrangement> all;
    meta::array<section> sections;
    for (const auto& part : m) {
      sections.push_back({all.size(), part.first, part.last});
      all.push_back(part.by);
    }
    const auto written = mapping_of(p_, s_.cluster, all, sections);
    if (written.devices.size() > goal_.max_devices) return {};
    const auto found = rate_.rate(written.mapping.values());
    if (!found.is_right() || !keeps(found.frame.expected, goal_) || exceeds(written.devices, found.frame)) return {};
    const auto& e = found.frame.expected;
    // Of mappings that are equally good, one with a shorter latency, fewer devices and fewer sections.
    const double value = value_of(goal_.best, e) * (1 + 1e-6 * std::min(30.0, e.latency / (e.period + 1e-12))) *
                         (1 + 1e-7 * (written.devices.size() + static_cast<double>(m.size())));
    int busiest = -1;
    for (int rank = 0; rank < written.devices.size(); ++rank)
      if (found.frame.ranks[rank].busy() >= e.period * (1 - 1e-9)) busiest = written.devices[rank];
    best_.emplace(value, rated_mix{m, e, busiest});
    if (best_.size() > kept) best_.erase(std::prev(best_.end()));
    return e;
  }
  static std::vector<int> key_of(const mixed& m) {
    std::vector<int> out;
    for (const auto& part : m) {
      for (const int x : {part.first, part.last, part.by.word, part.by.down, part.by.across, part.by.exchange_every,
                          part.by.devices.size(), part.by.shares.size()})
        out.push_back(x);
      for (const int x : part.by.devices) out.push_back(x);
      for (const int x : part.by.shares) out.push_back(x);
    }
    return out;
  }
  bool in_order(const mixed& m) const {
    if (!goal_.in_order) return true;
    int last = -1;
    for (const auto& part : m) {
      int most = -1;
      for (const int d : part.by.devices) {
        if (d <= last) return false;
        most = std::max(most, d);
      }
      last = most;
    }
    return true;
  }
  /// Whether inputs and outputs are where they have to be, and no layer is split that must not be.
  bool allowed(const mixed& m) const {
    for (const auto& part : m)
      for (int l = 0; l < p_.cut_unit_of.size(); ++l) {
        if (p_.cut_unit_of[l] < part.first || p_.cut_unit_of[l] >= part.last) continue;
        const auto& layer = s_.net.layers[l];
        const int host = p_.devices[part.by.devices[0]].host;
        if (layer.is_input && goal_.input_at >= 0 && host != goal_.input_at) return false;
        if (layer.is_output && goal_.output_at >= 0 && host != goal_.output_at) return false;
        if (r_.whole_only.size() > 0 && r_.whole_only[l] && !part.by.is_whole()) return false;
      }
    return true;
  }
  /// Whether a rank or a board needs more memory than it may have.
  bool exceeds(const meta::array<int>& devices, const cost::simulated& of) const {
    board_memory boards(s_.cluster);
    bool any = false;
    for (int r = 0; !r_.any_memory && r < devices.size(); ++r) {
      const int processor = p_.devices[devices[r]].processor;
      any = boards.add(processor, of.ranks[r].memory, limits_[processor]) > 0 || any;
    }
    return any;
  }

  /// A value (value_of) below which no mapping can be.
  double bound() const {
    const auto work = least_work_of(s_, p_);
    switch (goal_.best) {
      case objective::throughput:
      case objective::latency:
        return bound_of(work, 200).whole() * (1 - 1e-9);
      case objective::energy: {
        double out = 0;
        for (int k = 0; k < p_.cut_units; ++k) {
          double least = infinity;
          for (int d = 0; d < p_.devices.size(); ++d)
            least = std::min(least, p_.devices[d].busy_watts * work.time(d, k, k + 1));
          out += least;
        }
        return out * (1 - 1e-9);
      }
      default:
        return static_cast<double>(least_weights_of(s_, p_)) / p_.devices.size();
    }
  }

  const cost::setting& s_;
  problem p_;
  const cost::evaluator& rate_;
  meta::view<graph::any_operator> operators_;
  const mix_request& r_;
  const goal& goal_;
  const alike_hosts alike_;
  const meta::array<std::int64_t> limits_;  ///< bytes, by processor
  bool limited_ = false;                    ///< whether the search counts memory
  double counted_ = infinity;               ///< value of the best one found, as the search counts
  std::multimap<double, rated_mix> best_;
  std::map<std::vector<int>, char> seen_;
  mix_result out_;
};

}  // namespace detail

/// Stages of whole layers as a mix.
inline mixed mix_of(const meta::array<stage>& stages) {
  mixed out;
  for (const auto& s : stages) {
    mixed_section part;
    part.first = s.first;
    part.last = s.last;
    part.by.devices.push_back(s.device);
    out.push_back(part);
  }
  return out;
}

namespace detail {

/// The mix with the fewest devices that is good enough compared with `best`, found by bisection.
[[gnu::cold]] inline mix_result fewest(const cost::setting& s, const problem& p, const cost::evaluator& rate,
                                       meta::view<graph::any_operator> operators, const mix_request& r, mix_result best) {
  const auto devices_of = [](const mixed& m) {
    std::uint64_t used = 0;
    for (const auto& part : m)
      for (const int d : part.by.devices) used |= std::uint64_t{1} << d;
    return std::popcount(used);
  };
  const prediction wanted = best.expected;
  auto fewer = r;
  for (int few = 0; devices_of(best.sections) - few > 1 && !best.stopped;) {
    fewer.wanted.aim.max_devices = (few + devices_of(best.sections)) / 2;
    auto found = mixer(s, p, rate, operators, fewer).run({});
    best.stopped = found.stopped;
    if (!found.sections.empty() && good_enough(r.wanted, found.expected, wanted)) {
      found.bound = best.bound;
      best = std::move(found);
    } else {
      few = fewer.wanted.aim.max_devices;
    }
  }
  return best;
}

/// The best mapping of whole layers for a request, without its limit of memory, if it may be ignored.
[[gnu::cold]] inline mixed stages_for(const cost::setting& s, problem p, const mix_request& r) {
  tie_ends(p, s, r.wanted.aim);
  auto limits = limits_of(s.cluster, r.wanted.memory);
  if (r.any_memory)
    for (auto& bytes : limits) bytes = no_limit;
  return mix_of(find_within(s, p, r.wanted.aim, limits, max_routes, true).stages);
}

}  // namespace detail

/// The best mix that the search finds for problem p of setting s, whose ends are not tied. `rate` rates mappings in this
/// setting; `known` is a mapping of whole layers to be better than, or empty.
[[gnu::cold]] inline mix_result find_mix(const cost::setting& s, const problem& p, const cost::evaluator& rate,
                                         meta::view<graph::any_operator> operators, const mix_request& r,
                                         const mixed& known) {
  auto out = detail::mixer(s, p, rate, operators, r).run(known);
  // What only just keeps to a limit is hard to find: the search starts from what is best without the limit.
  const auto start_near = [&](objective best, const auto& relax) {
    auto nearest = r;
    nearest.wanted.aim.best = best;
    if (!out.sections.empty() || out.stopped || !relax(nearest)) return;
    const auto found = detail::mixer(s, p, rate, operators, nearest).run(detail::stages_for(s, p, nearest));
    if (found.sections.empty()) out.stopped = found.stopped;
    else out = detail::mixer(s, p, rate, operators, r).run(found.sections);
  };
  start_near(objective::throughput, [](auto& to) { return std::exchange(to.wanted.aim.max_period, infinity) < infinity; });
  start_near(objective::latency, [](auto& to) { return std::exchange(to.wanted.aim.max_latency, infinity) < infinity; });
  start_near(objective::peak_memory, [](auto& to) { return std::exchange(to.wanted.memory, no_limit) < no_limit; });
  start_near(objective::peak_memory, [](auto& to) { return !std::exchange(to.any_memory, true); });
  if (out.sections.empty() || r.wanted.percent < 0) return out;
  return detail::fewest(s, p, rate, operators, r, std::move(out));
}

}  // namespace dice::partition
