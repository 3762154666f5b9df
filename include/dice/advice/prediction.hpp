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
#include "dice/runtime/usage_error.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

inline constexpr std::array<std::string_view, 4> objective_names{"throughput", "latency", "energy", "peak_memory"};

/// "energy,at_least_fps=25,at_most_latency=40,memory_limit=512,in_order,repeats,input_at=HOST,output_at=HOST,
/// fewest_devices=5" (ms, MiB, %). Throws runtime::usage_error.
[[gnu::cold]] inline partition::request request_of_text(std::string_view text, const platform::cluster_view& cluster) {
  partition::request out;
  const auto fail = [](const std::string& what) { throw runtime::usage_error("--search: " + what); };
  std::vector<std::string_view> seen;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find(',', at);
    const auto word = text.substr(at, end - at), name = word.substr(0, word.find('='));
    const auto number = [&](double least = 1e-12, double most = 1e12) {
      double value = 0;
      const auto digits = word.substr(std::min(name.size() + 1, word.size()));
      const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || last != digits.data() + digits.size() || !(value >= least && value <= most))
        fail("'" + std::string(word) + "': write " + std::string(name) + "=N with a number from " +
             text::number_text(least, "%g") + " to " + (most < 1e12 ? text::number_text(most, "%g") : "1e12"));
      return value;
    };
    const auto host = [&] {
      const auto wanted = word.substr(std::min(name.size() + 1, word.size()));
      std::string known;
      for (const auto& h : cluster.hosts) known += (known.empty() ? "" : ", ") + std::string(h.name);
      const int found = partition::detail::host_named(cluster.hosts, wanted);
      if (found < 0)
        fail("'" + std::string(word) + "': write " + std::string(name) + "=HOST with a host of the cluster: " + known);
      return found;
    };
    const auto objective = std::find(objective_names.begin(), objective_names.end(), word);
    const bool aims = objective != objective_names.end();
    const std::string_view what = aims ? "an objective" : name;
    if (std::find(seen.begin(), seen.end(), what) != seen.end())
      fail("'" + std::string(text) + "': " + std::string(what) + " is given twice; give it once");
    seen.push_back(what);
    if (aims) out.aim.best = static_cast<partition::objective>(objective - objective_names.begin());
    else if (word == "in_order") out.aim.in_order = true;
    else if (word == "repeats") out.aim.repeats = true;
    else if (name == "at_least_fps") {
      out.fps = number();
      out.aim.max_period = 1 / out.fps;
    } else if (name == "at_most_latency") out.aim.max_latency = number() * 1e-3;
    else if (name == "memory_limit") out.memory = static_cast<std::int64_t>(number() * (1 << 20));
    else if (name == "input_at") out.aim.input_at = host();
    else if (name == "output_at") out.aim.output_at = host();
    else if (name == "fewest_devices") out.percent = number(0, 100);
    else
      fail("'" + std::string(word) +
           "' is not an objective or limit; write throughput, latency, energy or peak_memory, and after it, separated by "
           "commas, "
           "at_least_fps=N, at_most_latency=MS, memory_limit=MIB, in_order, repeats, input_at=HOST, output_at=HOST, "
           "fewest_devices=PERCENT");
  }
  return out;
}

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

/// The mapping that was found for `problem` and request r, as C++, and its prediction, each line of that after `begin`.
[[gnu::cold]] inline std::string found_text(const cluster_model& f, const runtime::program& p, const cost::problem& problem,
                                            const partition::request& r, const partition::search_result& found,
                                            std::string_view begin) {
  const auto host = [&](int d) { return std::string(f.setting.cluster.hosts[problem.devices[d].host].name); };
  const auto& devices = found.ranks.devices;
  std::vector<platform::device> written;
  for (const int d : devices) {
    const auto& on = f.setting.cluster.processors[problem.devices[d].processor];
    const auto& at = f.setting.cluster.hosts[problem.devices[d].host];
    written.push_back({.rank = static_cast<int>(written.size()), .unit = on.unit, .host = at.name, .cores = on.cores});
  }
  const auto name = [&](int d) {
    return "rank " + std::to_string(std::find(devices.begin(), devices.end(), d) - devices.begin());
  };
  const std::span<const int> owner(found.ranks.owner.data(), static_cast<std::size_t>(found.ranks.owner.size()));
  auto table = prediction_table(problem, found.stages, found.expected, name, host) +
               beside_one_device(f, problem, r, found.expected, devices.size()).text;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    if (table[at] != '\n') table.insert(at, begin);
  const auto mapping = placement::mapping_of(owner, written, placement::default_in_flight(devices.size()));
  return mapping_text(p, mapping.values()) + "\n" + table;
}

}  // namespace detail
}  // namespace dice::advice
