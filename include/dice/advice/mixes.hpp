// What --search prints for mixes of stages, splits and replicas.
#pragma once

#include "dice/advice/alone.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/prediction.hpp"
#include "dice/advice/search_request.hpp"
#include "dice/cost/evaluator.hpp"
#include "dice/cost/problem.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/mix.hpp"
#include "dice/partition/written_sections.hpp"
#include "dice/placement/words.hpp"
#include "dice/runtime/layer_operators.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dice::advice {

/// Searches for mixes of a program's network on its cluster. Requires program::tables, which programs for one kind of board
/// lack.
class mixes {
 public:
  mixes(const cluster_model& f, const runtime::program& p)
      : f_(f),
        problem_(cost::problem_of(f.setting)),
        operators_(runtime::operators_of(*p.tables)),
        rate_(f.setting, p.tables->algorithms, {operators_.data(), operators_.size()}, p.tables->parameters) {}
  mixes(const mixes&) = delete;
  mixes& operator=(const mixes&) = delete;

  const cost::setting& setting() const { return f_.setting; }
  const cost::problem& problem() const { return problem_; }
  partition::mix_result find(const partition::mix_request& r, const partition::mixed& known) const {
    return partition::find_mix(f_.setting, problem_, rate_, {operators_.data(), operators_.size()}, r, known);
  }
  partition::written_sections written(const partition::mixed& m) const {
    meta::array<cost::arrangement> all;
    meta::array<cost::section> sections;
    for (const auto& part : m) {
      sections.push_back({all.size(), part.first, part.last});
      all.push_back(part.by);
    }
    return partition::mapping_of(problem_, f_.setting.cluster, all, sections);
  }
  /// The figures of its plan.
  cost::simulated rated(const partition::written_sections& m) const { return rate_.rate(m.mapping.values()).frame; }

 private:
  const cluster_model& f_;
  const cost::problem problem_;
  const std::vector<graph::any_operator> operators_;
  const cost::evaluator rate_;
};

namespace detail {

/// The request as partition has it. Refers to r.
[[gnu::cold]] inline partition::mix_request mix_request_of(const search_request& r) {
  return {.wanted = r.wanted, .whole_only = {r.whole_only.data(), r.whole_only.size()}, .effort = r.effort};
}

/// The kinds of splits in a catalogue.
[[gnu::cold]] inline std::vector<std::string_view> kinds_in(const meta::array<cost::arrangement>& all) {
  std::vector<std::string_view> out;
  for (const auto kind : partition::kind_words)
    if (std::any_of(all.begin(), all.end(), [&](const auto& a) { return partition::bit_of_kind(kind) == 1u << a.word; }))
      out.push_back(kind);
  return out;
}
/// "rows, grid, replicas".
[[gnu::cold]] inline std::string kinds_text(const meta::array<cost::arrangement>& all) {
  std::string out;
  for (const auto kind : kinds_in(all)) out += (out.empty() ? "" : ", ") + std::string(kind);
  return out;
}

/// What was searched.
[[gnu::cold]] inline std::string catalogue_text(const partition::mix_result& found, const search_request& r) {
  std::vector<meta::array<int>> sets;
  int shared = 0, exchanges = 1;
  for (const auto& a : found.catalogue) {
    if (a.is_whole()) continue;
    ++shared;
    exchanges = std::max(exchanges, a.exchange_every);
    const auto same = [&](const meta::array<int>& s) {
      return std::equal(s.begin(), s.end(), a.devices.begin(), a.devices.end());
    };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(a.devices);
  }
  const auto counted = [](int n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  std::string out = "Catalogue (effort=" + std::to_string(r.effort) + "): " + counted(found.cut_units, "cut unit") +
                    ", each whole on one of " + counted(found.arrangements - shared, "device");
  if (shared > 0)
    out += ",\nor shared in one of " + counted(shared, "way") + " (" + kinds_text(found.catalogue) + "),\nby one of " +
           counted(static_cast<int>(sets.size()), "set") + " of devices, with shares by speed" +
           (r.effort > 1 ? ", equal ones, and between" : "") +
           (exchanges > 1 ? ", and exchanges up to every " + std::to_string(exchanges) + " layers" : "");
  return out + ".\nThe way may change before " +
         (found.borders + 1 >= found.cut_units ? std::string("each cut unit")
                                               : std::to_string(found.borders) + " of the cut units") +
         ": " + text::number_text(found.mappings, "%.3g") + " mappings. " +
         (found.exact ? "All of them, and some near the best,\nwere rated by their plans: "
                      : "The search's own times chose among them, and ") +
         std::to_string(found.rated) +
         (found.exact ? ".\n" : " were\nrated by their plans, among them neighbours of the best.\n") +
         (found.stopped ? "The search was stopped: this is the best mapping so far.\n" : "");
}

/// How far the value is from what any mapping could reach.
[[gnu::cold]] inline std::string bound_text(partition::objective o, const partition::mix_result& found) {
  const double value = partition::value_of(o, found.expected);
  if (!(found.bound > 0) || !std::isfinite(value)) return {};
  cost::prediction least;
  least.period = least.latency = least.energy = found.bound;
  least.throughput = 1 / found.bound;
  least.memory = static_cast<std::int64_t>(found.bound);
  const double gap = o == partition::objective::throughput ? 1 - found.bound / value : value / found.bound - 1;
  return "No mapping on these devices can have " +
         std::string(o == partition::objective::throughput ? "more than " : "less than ") + figure_text(o, least) +
         (gap < 1e-6 ? ": none is better than this one.\n"
                     : ": this one is within " + text::number_text(gap * 100, "%.3g %%") + " of that.\n");
}

/// What each rank of a mix takes.
[[gnu::cold]] inline std::string rank_table(const cluster_model& f, const mixes& all,
                                            const partition::written_sections& written, const cost::prediction& expected) {
  const bool messages = all.problem().messages_cost_time;
  const auto frame = all.rated(written);
  std::vector<std::vector<std::string>> lines{{"", "host", "ms", "ms for messages", "of the period", "memory"}};
  for (int rank = 0; rank < written.devices.size(); ++rank) {
    const auto& t = frame.ranks[rank];
    const auto ms = [](double s) { return text::number_text(s * 1e3, "%.3f"); };
    lines.push_back({"rank " + std::to_string(rank),
                     std::string(f.setting.cluster.hosts[all.problem().devices[written.devices[rank]].host].name),
                     ms(t.computing), messages ? ms(t.messages) : "not stated",
                     expected.period > 0 ? text::number_text(t.busy() / expected.period * 100, "%.0f %%") : "–",
                     text::bytes_text(t.memory)});
  }
  return text::table_text(lines, 2) + "\n";
}

/// The mapping that was found as C++, and its prediction, each line of that after `begin`.
[[gnu::cold]] inline std::string mix_text(const cluster_model& f, const runtime::program& p, const mixes& all,
                                          const search_request& r, const partition::mix_result& found,
                                          std::string_view begin, const std::string& measured = {}) {
  const auto written = all.written(found.sections);
  auto table = rank_table(f, all, written, found.expected) + totals_text(found.expected) +
               beside_one_device(f, all.problem(), r.wanted, found.expected, written.devices.size()).text +
               bound_text(r.wanted.aim.best, found) + catalogue_text(found, r) + measured;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    if (table[at] != '\n') table.insert(at, begin);
  return mapping_text(p, written.mapping.values()) + "\n" + table;
}

}  // namespace detail
}  // namespace dice::advice
