// What --plan prints: the plan from the program's values only, without MPI, weights or a GPU.
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

/// The plan as --plan=json has it.
[[gnu::cold]] inline text::json_object plan_json(const runtime::program& p) {
  text::json_array ranks, messages;
  for (const auto& r : p.plan.ranks)
    ranks.add(text::json_object()
                  .add("rank", r.rank)
                  .add("unit", unit_text(p, r.rank))
                  .add("layers", text::json_array(layers_of(p, r.rank)))
                  .add("macs", r.macs)
                  .add("weight_bytes", r.weight_bytes)
                  .add("arena_bytes", r.arena_bytes)
                  .add("peak_bytes", r.peak_bytes));
  for (const auto& m : p.plan.messages)
    messages.add(text::json_object()
                     .add("from", m.from)
                     .add("to", m.to)
                     .add("tag", m.tag)
                     .add("layer", m.layer)
                     .add("bytes", m.bytes));
  return text::json_object()
      .add("network", p.network)
      .add("in_flight", p.plan.in_flight)
      .add("ranks", ranks)
      .add("messages", messages);
}

/// The same as a table.
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
      lines.push_back({std::string(p.layers.layers[m.layer].name), std::to_string(m.from), std::to_string(m.to),
                       std::to_string(m.tag), text::bytes_text(m.bytes)});
    out += text::table_text(lines, 1);
  }
  return out;
}

}  // namespace dice::report
