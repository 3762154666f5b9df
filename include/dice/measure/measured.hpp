// --measure: what was measured, as a table, and as the file that onnx2hpp --profile reads.
#pragma once

#include "dice/platform/connection.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/trace.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::measure {

/// A unit of a host, and the times of the plan's groups on it.
struct measured_unit {
  std::string host, unit, processor;
  int threads = 0;
  double bytes_per_s = 0;    ///< read and written when it copies; 0: not measured
  std::vector<double> ms{};  ///< by fusion group; negative: not measured, since it belongs to another kind of unit
};

/// The CPU time that messages to other hosts cost a host; bandwidth 0: too little to measure.
struct measured_messages {
  std::string host;
  platform::link sending{}, receiving{};
};

/// Messages between two hosts, or between two ranks of one.
struct measured_connection {
  std::string from, to;
  double us = 0, mbit_per_s = 0;  ///< latency and bandwidth
};

/// All that a program measured.
struct measurements {
  std::vector<measured_unit> units;
  std::vector<measured_connection> connections;
  std::vector<measured_messages> messages;
};

namespace detail {

/// The layer that a fusion group is named after.
inline std::string_view layer_of(const runtime::program& p, std::size_t group) {
  return p.layers.layers[p.plan.groups[group].anchor].name;
}

/// The fusion groups, in lists: those that compute the same for different frames, on replicas, are in one.
[[gnu::cold]] inline std::vector<std::vector<std::size_t>> alike(const runtime::program& p) {
  std::vector<std::vector<std::size_t>> out;
  const auto part = [&](std::size_t g) { return p.parts[p.plan.groups[g].anchor]; };
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    const auto same = [&](const auto& others) {
      const auto a = part(others[0]), b = part(g);
      return !b.when.always() && a.when.set == b.when.set && a.what == b.what && a.layer == b.layer && a.box == b.box;
    };
    const auto list = p.parts.empty() ? out.end() : std::find_if(out.begin(), out.end(), same);
    if (list == out.end()) out.push_back({g});
    else list->push_back(g);
  }
  return out;
}

/// The time of one of these groups on a unit, in milliseconds; negative if none was measured.
inline double time_of(const std::vector<std::size_t>& groups, const std::vector<double>& ms) {
  const auto known = std::find_if(groups.begin(), groups.end(), [&](std::size_t g) { return ms[g] >= 0; });
  return known == groups.end() ? -1 : ms[*known];
}

/// Milliseconds of each layer on a unit: for a layer in parts, the sum of its parts, without cutting them out and putting
/// them together; for replicas, one of them; negative if some part was not measured.
[[gnu::cold]] inline std::vector<std::pair<std::string_view, double>> layer_times(const runtime::program& p,
                                                                                  const std::vector<double>& ms) {
  std::vector<std::pair<std::string_view, double>> out;
  for (const auto& groups : alike(p)) {
    if (!p.is_own(p.plan.groups[groups[0]].anchor)) continue;
    const auto layer = layer_of(p, groups[0]);
    const double time = time_of(groups, ms);
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& other) { return other.first == layer; });
    if (same == out.end()) out.emplace_back(layer, time);
    else same->second = same->second < 0 || time < 0 ? -1 : same->second + time;
  }
  return out;
}

/// `text` with each run of characters other than letters and digits replaced by one "_", none at the ends.
inline std::string word(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c))) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

/// The name of a unit: that of its host, and of the unit if the host has several.
inline std::string name_of(const measurements& m, const measured_unit& u) {
  const auto alike = std::count_if(m.units.begin(), m.units.end(), [&](const auto& o) { return o.host == u.host; });
  return word(u.host) + (alike > 1 ? "_" + word(u.unit) : "");
}

/// Adds the message costs of a CPU unit, which waits while its host's cores handle messages; nothing for a GPU.
inline void add_messages(text::json_object& to, const measurements& all, const measured_unit& u) {
  for (const auto& m : all.messages) {
    if (m.host != u.host || u.threads == 0) continue;
    for (const auto& [name, by] : {std::pair{"sending", m.sending}, {"receiving", m.receiving}})
      if (by.bytes_per_s > 0)
        to.add(name, text::json_object().add("us", by.seconds * 1e6).add("gbytes_per_s", by.bytes_per_s * 1e-9));
  }
}

}  // namespace detail

/// The form that docs/onnx2hpp.md describes. `predicted`: what was predicted of the cluster before, as JSON; or "".
[[gnu::cold]] inline std::string measured_json(const runtime::program& p, const measurements& all,
                                               const std::string& predicted) {
  text::json_array units, connections;
  for (const auto& u : all.units) {
    text::json_array layers, missing;
    for (const auto& [layer, ms] : detail::layer_times(p, u.ms)) {
      if (ms < 0) missing.add(layer);
      else layers.add(text::json_object().add("layer", layer).add("ms", ms));
    }
    text::json_object unit;
    unit.add("name", detail::name_of(all, u)).add("host", u.host).add("unit", u.unit).add("processor", u.processor);
    unit.add("threads", u.threads);
    if (u.bytes_per_s > 0) unit.add("memory_gbytes_per_s", u.bytes_per_s * 1e-9);
    detail::add_messages(unit, all, u);
    unit.add("layers", layers);
    if (!missing.empty()) unit.add("missing", missing);
    units.add(unit);
  }
  for (const auto& c : all.connections)
    connections.add(text::json_object().add("from", c.from).add("to", c.to).add("us", c.us).add("mbit_per_s", c.mbit_per_s));
  auto out = text::json_object()
                 .add("dice", p.version)
                 .add("network", p.network)
                 .add("digest", p.weights.structure)
                 .add("units", units)
                 .add("connections", connections);
  if (!predicted.empty()) out.add("predicted", text::json_text{predicted});
  return out.json() + "\n";
}

/// The same as a table.
[[gnu::cold]] inline std::string measured_table(const runtime::program& p, const measurements& all) {
  const auto number = [](const char* form, double v) {
    char text[48];
    std::snprintf(text, sizeof text, form, v);
    return std::string(text);
  };
  std::vector<std::vector<std::string>> lines{{"ms"}};
  for (const auto& u : all.units) lines[0].push_back(u.unit + " of " + u.host);
  std::vector<double> sums(all.units.size());
  for (const auto& groups : detail::alike(p)) {
    lines.push_back({report::group_text(p, groups[0])});
    for (std::size_t u = 0; u < sums.size(); ++u) {
      const double ms = detail::time_of(groups, all.units[u].ms);
      lines.back().push_back(ms < 0 ? "" : number("%.3f", ms));
      sums[u] += std::max(ms, 0.0);
    }
  }
  lines.push_back({"all"});
  for (const double sum : sums) lines.back().push_back(number("%.3f", sum));
  lines.push_back({"copies, GB/s"});
  for (const auto& u : all.units) lines.back().push_back(u.bytes_per_s > 0 ? number("%.1f", u.bytes_per_s * 1e-9) : "");
  auto out = text::table_text(lines, 1);
  if (all.connections.empty()) return out;
  lines = {{"messages", "us each", "Mbit/s"}};
  for (const auto& c : all.connections)
    lines.push_back(
        {c.from == c.to ? "within " + c.from : c.from + " to " + c.to, number("%.1f", c.us), number("%.4g", c.mbit_per_s)});
  out += "\n" + text::table_text(lines, 1);
  if (all.messages.empty()) return out;
  lines = {{"CPU time of messages", "us each sent", "GB/s", "us each received", "GB/s"}};
  for (const auto& m : all.messages) {
    lines.push_back({m.host});
    for (const auto& by : {m.sending, m.receiving})
      for (const double v : {by.seconds * 1e6, by.bytes_per_s * 1e-9})
        lines.back().push_back(by.bytes_per_s > 0 ? number("%.4g", v) : "little");
  }
  return out + "\n" + text::table_text(lines, 1);
}

}  // namespace dice::measure
