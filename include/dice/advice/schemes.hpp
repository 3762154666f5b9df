// Whether a pipeline, a split, replicas or a mix suits a cluster best, for one frame and for many.
#pragma once

#include "dice/advice/mixes.hpp"
#include "dice/advice/prediction.hpp"
#include "dice/cost/problem.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/mix.hpp"
#include "dice/placement/words.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::advice {

namespace detail {

/// A way to use a cluster, and the best mapping of that kind.
struct scheme {
  std::string name;  ///< "stages", "rows", "mix", …
  partition::mixed is;
  cost::prediction expected{};
};

/// The best mappings of each kind for an objective, the best one first.
[[gnu::cold]] inline std::vector<scheme> schemes_for(const mixes& all, partition::objective best) {
  std::vector<scheme> out;
  const auto& p = all.problem();
  partition::mix_request r{.wanted = {.aim = {.best = best}}, .ratings = 150};
  const auto stages = partition::find_best(all.setting(), p, r.wanted, max_routes_at_run_time);
  const auto known = partition::mix_of(stages.stages);
  if (!stages.empty()) out.push_back({"stages", known, all.rated(all.written(known)).expected});
  const auto found = all.find(r, known);
  for (const auto& pure : found.pure) {
    const auto& by = pure.by;
    const bool tiles = by.is().cut == placement::geometry::grid;
    const auto name =
        std::string(by.is().word) + (tiles ? "<" + std::to_string(by.down) + ", " + std::to_string(by.across) + ">" : "");
    const auto value = [&](const cost::prediction& e) { return partition::value_of(best, e); };
    const auto same = std::find_if(out.begin(), out.end(), [&](const scheme& s) { return s.name == name; });
    if (same == out.end()) out.push_back({name, pure.sections, pure.expected});
    else if (value(pure.expected) < value(same->expected)) *same = {name, pure.sections, pure.expected};
  }
  const auto kinds = [](const partition::mixed& m) {
    std::vector<int> words;
    for (const auto& part : m)
      if (std::find(words.begin(), words.end(), part.by.word) == words.end()) words.push_back(part.by.word);
    return words.size();
  };
  const auto by_value = [&](const scheme& a, const scheme& b) {
    return partition::value_of(best, a.expected) < partition::value_of(best, b.expected);
  };
  const auto least = std::min_element(out.begin(), out.end(), by_value);
  constexpr double little = 1e-3;
  if (!found.sections.empty() && kinds(found.sections) > 1 &&
      (least == out.end() ||
       partition::value_of(best, found.expected) < partition::value_of(best, least->expected) * (1 - little)))
    out.push_back({"mix", found.sections, found.expected});
  std::stable_sort(out.begin(), out.end(), by_value);
  return out;
}

/// "on 4 devices", or "on one".
[[gnu::cold]] inline std::string devices_text(const mixes& all, const partition::mixed& m) {
  const int n = all.written(m).devices.size();
  return n == 1 ? "on one device" : "on " + std::to_string(n) + " devices";
}

/// What limits the best mapping for many frames, and for one.
[[gnu::cold]] inline std::string limits_text(const cluster_model& f, const mixes& all, const scheme& of) {
  const auto written = all.written(of.is);
  const auto frame = all.rated(written);
  const auto host_of = [&](int rank) {
    return std::string(f.setting.cluster.hosts[all.problem().devices[written.devices[rank]].host].name);
  };
  int port = 0, rank = 0;
  for (int h = 0; h < frame.ports.size(); ++h)
    if (frame.ports[h] > frame.ports[port]) port = h;
  for (int r = 0; r < frame.ranks.size(); ++r)
    if (frame.ranks[r].busy() > frame.ranks[rank].busy()) rank = r;
  const double busy = frame.ranks[rank].busy(), period = frame.expected.period;
  if (period <= 0) return {};
  if (frame.ports[port] >= period * (1 - 1e-9) && frame.ports[port] > busy)
    return "the network port of " + std::string(f.setting.cluster.hosts[port].name) + " limits it";
  if (frame.ranks[rank].messages > frame.ranks[rank].computing)
    return "messages limit it: they take most of the time of " + host_of(rank);
  double least = busy;
  for (const auto& r : frame.ranks) least = std::min(least, r.busy());
  if (least > 0.9 * busy) return "all its devices are busy";
  const auto at = written.devices[rank];
  for (const auto& part : of.is)
    for (int k = part.first; k < part.last && part.by.is_whole() && part.by.devices[0] == at; ++k)
      if (all.problem().time(at, k, k + 1) > 0.7 * busy)
        for (int l = 0; l < all.problem().cut_unit_of.size(); ++l)
          if (all.problem().cut_unit_of[l] == k)
            return "layer " + std::string(all.setting().net.layers[l].name) + " on " + host_of(rank) + " limits it";
  return host_of(rank) + " limits it";
}

}  // namespace detail

/// What suits a cluster, as two lines or as JSON.
struct advised_schemes {
  std::string text;
  text::json_text json{"null"};
};

[[gnu::cold]] inline advised_schemes schemes_of(const cluster_model& f, const runtime::program& p) {
  advised_schemes out;
  if (!p.tables || f.setting.cluster.processors.size() < 2) return out;
  const mixes all(f, p);
  text::json_object json;
  for (const auto best : {partition::objective::latency, partition::objective::throughput}) {
    const bool one = best == partition::objective::latency;
    const auto found = detail::schemes_for(all, best);
    if (found.empty() || found[0].expected.period <= 0) return {};
    std::string line;
    text::json_array list;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& s = found[i];
      const int devices = all.written(s.is).devices.size();
      if (i < 4)
        line +=
            (i ? ", " : "") + s.name + " " + detail::devices_text(all, s.is) + " " + detail::figure_text(best, s.expected);
      list.add(text::json_object()
                   .add("kind", s.name)
                   .add("devices", devices)
                   .add("frames_per_s", s.expected.throughput)
                   .add("latency_s", s.expected.latency));
    }
    out.text += (one ? "Best for one frame: " : "Best for many:      ") + line + ".\n";
    const auto limit = detail::limits_text(f, all, found[0]);
    if (!one) out.text += "                    Of the first, " + limit + ".\n";
    json.add(one ? "one_frame" : "many_frames", list);
    if (!one) json.add("limit", limit);
  }
  out.text += "--search=latency and --search=throughput print such mappings.\n";
  out.json = {json.json()};
  return out;
}

}  // namespace dice::advice
