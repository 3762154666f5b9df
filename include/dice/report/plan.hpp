// What --plan prints: the plan from the program's values alone, without MPI, weights or a GPU.
#pragma once

#include "dice/report/names.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dice::report {

namespace detail {

[[gnu::cold]] inline std::string plan_json(const runtime::program& p) {
  std::string out = "{\"network\": " + text::json_string(p.network) +
                    ", \"in_flight\": " + std::to_string(p.plan.in_flight) + ",\n \"ranks\": [";
  for (std::size_t i = 0; i < p.plan.ranks.size(); ++i) {
    const auto& r = p.plan.ranks[i];
    out += (i ? ",\n  " : "\n  ");
    out += "{\"rank\": " + std::to_string(r.rank) + ", \"unit\": " + text::json_string(unit_text(p, r.rank)) +
           ", \"layers\": [";
    bool first = true;
    for (int l : layers_of(p, r.rank)) out += (first ? "" : ", ") + std::to_string(l), first = false;
    out += "], \"macs\": " + std::to_string(r.macs) + ", \"weight_bytes\": " + std::to_string(r.weight_bytes) +
           ", \"arena_bytes\": " + std::to_string(r.arena_bytes) + ", \"peak_bytes\": " + std::to_string(r.peak_bytes) + "}";
  }
  out += "],\n \"messages\": [";
  for (std::size_t i = 0; i < p.plan.messages.size(); ++i) {
    const auto& m = p.plan.messages[i];
    out += (i ? ",\n  " : "\n  ");
    out += "{\"from\": " + std::to_string(m.from) + ", \"to\": " + std::to_string(m.to) +
           ", \"tag\": " + std::to_string(m.tag) + ", \"layer\": " + std::to_string(m.layer) +
           ", \"bytes\": " + std::to_string(m.bytes) + "}";
  }
  return out + "]}\n";
}

[[gnu::cold]] inline std::string plan_table(const runtime::program& p) {
  std::string out = "Network " + std::string(p.network) + ": " + std::to_string(p.layers.size()) + " layers on " +
                    std::to_string(p.ranks()) + (p.ranks() == 1 ? " rank, " : " ranks, ") +
                    std::to_string(p.plan.in_flight) + (p.plan.in_flight == 1 ? " frame" : " frames") +
                    " in flight at most\n\n";
  std::vector<std::vector<std::string>> lines{
      {"rank", "unit", "layers", "MMAC", "weights", "arena", "peak", "sends", "receives"}};
  for (const auto& r : p.plan.ranks) {
    std::int64_t sent = 0, received = 0;
    int sends = 0, receives = 0;
    for (const auto& m : p.plan.messages) {
      if (m.from == r.rank) sent += m.bytes, ++sends;
      if (m.to == r.rank) received += m.bytes, ++receives;
    }
    char macs[32];
    std::snprintf(macs, sizeof macs, "%.1f", static_cast<double>(r.macs) / 1e6);
    const auto flow = [](int n, std::int64_t bytes) {
      return n ? std::to_string(n) + " · " + text::bytes_text(bytes) : std::string("–");
    };
    lines.push_back({std::to_string(r.rank), unit_text(p, r.rank), std::to_string(r.layers), macs,
                     text::bytes_text(r.weight_bytes), text::bytes_text(r.arena_bytes), text::bytes_text(r.peak_bytes),
                     flow(sends, sent), flow(receives, received)});
  }
  out += text::table_text(lines, 2) + "\n";
  for (const auto& r : p.plan.ranks)
    out += "rank " + std::to_string(r.rank) + ": " + runs_text(p, layers_of(p, r.rank)) + "\n";
  if (!p.plan.messages.empty()) {
    out += "\nMessages of one frame:\n";
    lines = {{"layer", "from", "to", "tag", "size"}};
    for (const auto& m : p.plan.messages)
      lines.push_back({std::string(p.layers.layers[static_cast<std::size_t>(m.layer)].name), std::to_string(m.from),
                       std::to_string(m.to), std::to_string(m.tag), text::bytes_text(m.bytes)});
    out += text::table_text(lines, 1);
  }
  return out;
}

}  // namespace detail

/// The plan as text: a table, or one JSON object.
inline std::string plan_text(const runtime::program& p, bool json) {
  return json ? detail::plan_json(p) : detail::plan_table(p);
}

}  // namespace dice::report
