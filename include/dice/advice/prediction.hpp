// The predictions that --plan and --search print.
#pragma once

#include "dice/advice/alone.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/search_progress.hpp"
#include "dice/cost/setting.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/placement/assign.hpp"
#include "dice/placement/owned.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/report/plan.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::advice {

namespace detail {

[[gnu::cold]] inline std::string totals_text(const cost::prediction& expected) {
  return text::number_text(expected.throughput, "%.4g frames/s, ") +
         text::number_text(expected.latency * 1e3, "%.4g ms from a frame's entry to its results, ") +
         (expected.energy > 0 ? text::number_text(expected.energy, "%.4g J per frame, ") : "") + "at most " +
         text::bytes_text(expected.memory) + " per rank\n";
}

/// Stages and transfers in order, and their totals. `name(d)` names device d, `host(d)` its host.
[[gnu::cold]] inline std::string prediction_table(const cost::problem& p, const meta::array<cost::stage>& stages,
                                                  const cost::prediction& expected,
                                                  const std::function<std::string(int)>& name,
                                                  const std::function<std::string(int)>& host) {
  std::vector<std::vector<std::string>> lines{{"", "host", "ms"}};
  if (p.messages_cost_time) lines[0].push_back("ms for messages");
  lines[0].push_back("of the period");
  const auto add = [&](const std::string& what, const std::string& where, double seconds, double more) {
    lines.push_back({what, where, text::number_text(seconds * 1e3, "%.3f")});
    if (p.messages_cost_time) lines.back().push_back(more > 0 ? text::number_text(more * 1e3, "%.3f") : "");
    lines.back().push_back(expected.period > 0 ? text::number_text((seconds + more) / expected.period * 100, "%.0f %%")
                                               : "–");
  };
  for (int k = 0; k < stages.size(); ++k) {
    const auto& s = stages[k];
    if (k > 0) {
      const int before = stages[k - 1].device;
      add(name(before) + " to " + name(s.device) + ", " + text::bytes_text(p.crossing[s.first]),
          host(before) + " to " + host(s.device), p.transfer(p.link(before, s.device), s.first), 0);
    }
    add(name(s.device), host(s.device), p.time(s.device, s.first, s.last), cost::message_time(p, stages, k));
  }
  return text::table_text(lines, 2) + "\n" + totals_text(expected);
}

/// A mapping as C++ to paste.
[[gnu::cold]] inline std::string mapping_text(const runtime::program& p, const placement::written_mapping& m) {
  return "using deployment = " + placement::write(m, p.network, p.network_layers()) + ";\n";
}

/// With more routes, a search gives up.
inline constexpr int max_routes_at_run_time = 20000;

/// Why the cluster has no mapping for the request, in the units of request_of_text.
[[gnu::cold]] inline std::string no_mapping_text(const platform::cluster_view& cluster, const partition::request& r,
                                                 const partition::nearest& why) {
  using enum partition::obstacle;
  if (why.what == constraints)
    return "no mapping has the inputs and outputs on the hosts of input_at and output_at (name others, leave out in_order, "
           "or "
           "add repeats)";
  if (why.what == input_host || why.what == output_host) {
    const bool input = why.what == input_host;
    const auto host = "host '" + std::string(cluster.hosts[input ? r.aim.input_at : r.aim.output_at].name) + "' ";
    if (why.value == 0) return host + "has no processor that this program can use (build with its backend, or name another)";
    if (r.memory < std::numeric_limits<std::int64_t>::max())
      return "memory_limit is too little for the network's " + std::string(input ? "input" : "output") + ", which needs " +
             text::bytes_text(static_cast<std::int64_t>(why.value)) + " on the host of " +
             (input ? "input_at" : "output_at") + " (relax this limit)";
    return host + "has too little memory for the network's " + (input ? "input" : "output") + ", which needs " +
           text::bytes_text(static_cast<std::int64_t>(why.value)) + " (give it more, or name another host)";
  }
  std::string limit, nearest;
  const auto name = [&](const char* word, double wanted, double possible) {
    limit = word + text::number_text(wanted, "%.6g");
    nearest = word + text::number_text(possible, "%.6g");
  };
  if (why.what == partition::obstacle::fps) {
    name("at_least_fps=", r.fps, partition::rounded(why.value, false));
  } else if (why.what == partition::obstacle::latency) {
    name("at_most_latency=", r.aim.max_latency * 1e3, partition::rounded(why.value * 1e3, true));
  } else {
    std::int64_t ram = 0;
    for (const auto& p : cluster.processors) ram = std::max(ram, p.memory);
    const auto mib = [](double bytes) {  // as it was before it was rounded to whole bytes
      const double exact = (bytes + 0.5) / (1 << 20), digits = exact < 1 ? 1e-6 : 1e-4;
      return std::round(exact / digits) * digits;
    };
    name("memory_limit=", mib(static_cast<double>(r.memory)), mib(why.value));
    if (ram <= r.memory)
      limit = "the cluster's ram limit, " + text::number_text(mib(static_cast<double>(ram)), "%.6g MiB at most");
  }
  return "no mapping meets " + limit + "; the " + (why.what == partition::obstacle::fps ? "most" : "least") +
         " possible is " + nearest + " (relax this limit, or add devices)";
}

/// The stages that were found for `problem` as a mapping.
[[gnu::cold]] inline placement::owned_mapping written_stages(const cluster_model& f, const cost::problem& problem,
                                                             const partition::search_result& found) {
  std::vector<platform::device> written;
  for (const int d : found.ranks.devices) {
    const auto& on = f.setting.cluster.processors[problem.devices[d].processor];
    const auto& at = f.setting.cluster.hosts[problem.devices[d].host];
    written.push_back({.rank = static_cast<int>(written.size()), .unit = on.unit, .host = at.name, .cores = on.cores});
  }
  const std::span<const int> owner(found.ranks.owner.data(), static_cast<std::size_t>(found.ranks.owner.size()));
  return placement::mapping_of(owner, written, placement::default_in_flight(found.ranks.devices.size()));
}

/// The mapping that was found for `problem` and request r, as C++, and its prediction, each line of that after `begin`.
[[gnu::cold]] inline std::string found_text(const cluster_model& f, const runtime::program& p, const cost::problem& problem,
                                            const partition::request& r, const partition::search_result& found,
                                            std::string_view begin) {
  const auto host = [&](int d) { return std::string(f.setting.cluster.hosts[problem.devices[d].host].name); };
  const auto& devices = found.ranks.devices;
  const auto name = [&](int d) {
    return "rank " + std::to_string(std::find(devices.begin(), devices.end(), d) - devices.begin());
  };
  auto table = prediction_table(problem, found.stages, found.expected, name, host) +
               beside_one_device(f, problem, r, found.expected, devices.size()).text;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    if (table[at] != '\n') table.insert(at, begin);
  const auto mapping = written_stages(f, problem, found);
  return mapping_text(p, mapping.values()) + "\n" + table;
}

}  // namespace detail
}  // namespace dice::advice
