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

/// A unit of a host, and what the groups of the plan take on it.
struct measured_unit {
  std::string host, unit, processor;
  int threads = 0;
  std::vector<double> ms;  ///< by fusion group; negative: not measured, for it belongs to another kind of unit
};

/// What messages to other hosts take of a host's cores; no speed: nothing that could be measured.
struct measured_messages {
  std::string host;
  platform::link sending{}, receiving{};
};

/// Messages between two hosts, or between two ranks of one.
struct measured_connection {
  std::string from, to;
  double us = 0, mbit_per_s = 0;  ///< of each message, and besides
};

/// All that a program measured.
struct measurements {
  std::vector<measured_unit> units;
  std::vector<measured_connection> connections;
  std::vector<measured_messages> messages;
};

namespace detail {

/// The layer that a fusion group is named by.
inline std::string_view layer_of(const runtime::program& p, std::size_t group) {
  return p.layers.layers[static_cast<std::size_t>(p.plan.groups[group].anchor)].name;
}

/// `text` with what is not a letter or digit as "_".
inline std::string word(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c))) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

/// Names for the units: their hosts', with the unit where a host has several.
inline std::string name_of(const measurements& m, const measured_unit& u) {
  const auto alike = std::count_if(m.units.begin(), m.units.end(), [&](const auto& o) { return o.host == u.host; });
  return word(u.host) + (alike > 1 ? "_" + word(u.unit) : "");
}

/// Of units that wait while their host's cores see to messages: not of GPUs.
inline std::string messages_json(const measurements& all, const measured_unit& u) {
  std::string out;
  for (const auto& m : all.messages) {
    if (m.host != u.host || u.threads == 0) continue;
    for (const auto& [name, by] : {std::pair{"sending", m.sending}, {"receiving", m.receiving}})
      if (by.bytes_per_s > 0)
        out += std::string(", \"") + name + "\": {\"us\": " + text::json_number(by.seconds * 1e6) +
               ", \"gbytes_per_s\": " + text::json_number(by.bytes_per_s * 1e-9) + "}";
  }
  return out;
}

}  // namespace detail

/// The form that docs/onnx2hpp.md describes.
[[gnu::cold]] inline std::string measured_json(const runtime::program& p, const measurements& all) {
  std::string out = "{\"dice\": " + text::json_string(p.version) + ", \"network\": " + text::json_string(p.network) +
                    ",\n \"digest\": " + text::json_string(p.weights.digest) + ",\n \"units\": [";
  for (std::size_t k = 0; k < all.units.size(); ++k) {
    const auto& u = all.units[k];
    std::string layers, missing;
    for (std::size_t g = 0; g < u.ms.size(); ++g) {
      const auto layer = text::json_string(detail::layer_of(p, g));
      if (u.ms[g] < 0) missing += (missing.empty() ? "" : ", ") + layer;
      else
        layers += (layers.empty() ? "\n    " : ",\n    ") + ("{\"layer\": " + layer) +
                  ", \"ms\": " + text::json_number(u.ms[g]) + "}";
    }
    out += (k ? ",\n  " : "\n  ") + ("{\"name\": " + text::json_string(detail::name_of(all, u))) +
           ", \"host\": " + text::json_string(u.host) + ", \"unit\": " + text::json_string(u.unit) +
           ", \"processor\": " + text::json_string(u.processor) + ", \"threads\": " + std::to_string(u.threads) +
           detail::messages_json(all, u) + ", \"layers\": [" + layers + "]" +
           (missing.empty() ? "" : ",\n   \"missing\": [" + missing + "]") + "}";
  }
  out += "],\n \"connections\": [";
  for (std::size_t k = 0; k < all.connections.size(); ++k) {
    const auto& c = all.connections[k];
    out += (k ? ",\n  " : "\n  ") + ("{\"from\": " + text::json_string(c.from)) + ", \"to\": " + text::json_string(c.to) +
           ", \"us\": " + text::json_number(c.us) + ", \"mbit_per_s\": " + text::json_number(c.mbit_per_s) + "}";
  }
  return out + "]}\n";
}

/// The same for people.
[[gnu::cold]] inline std::string measured_table(const runtime::program& p, const measurements& all) {
  const auto number = [](const char* form, double v) {
    char text[48];
    std::snprintf(text, sizeof text, form, v);
    return std::string(text);
  };
  std::vector<std::vector<std::string>> lines{{"ms"}};
  for (const auto& u : all.units) lines[0].push_back(u.unit + " of " + u.host);
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    lines.push_back({report::group_text(p, g)});
    for (const auto& u : all.units) lines.back().push_back(u.ms[g] < 0 ? "" : number("%.3f", u.ms[g]));
  }
  lines.push_back({"all"});
  for (const auto& u : all.units) {
    double sum = 0;
    for (const double ms : u.ms) sum += std::max(ms, 0.0);
    lines.back().push_back(number("%.3f", sum));
  }
  auto out = text::table_text(lines, 1);
  if (all.connections.empty()) return out;
  lines = {{"messages", "us each", "Mbit/s"}};
  for (const auto& c : all.connections)
    lines.push_back(
        {c.from == c.to ? "within " + c.from : c.from + " to " + c.to, number("%.1f", c.us), number("%.4g", c.mbit_per_s)});
  out += "\n" + text::table_text(lines, 1);
  if (all.messages.empty()) return out;
  lines = {{"messages take of", "us each sent", "GB/s", "us each received", "GB/s"}};
  for (const auto& m : all.messages) {
    lines.push_back({m.host});
    for (const auto& by : {m.sending, m.receiving})
      for (const double v : {by.seconds * 1e6, by.bytes_per_s * 1e-9})
        lines.back().push_back(by.bytes_per_s > 0 ? number("%.4g", v) : "little");
  }
  return out + "\n" + text::table_text(lines, 1);
}

}  // namespace dice::measure
