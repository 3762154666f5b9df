// What --plan prints: the plan from the program's values only, without MPI, weights or a GPU.
#pragma once

#include "dice/placement/text/write.hpp"
#include "dice/report/names.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dice::report {

/// What the ranks compute of layers in parts: the first and the last element of each axis.
[[gnu::cold]] inline text::json_array parts_json(const runtime::program& p) {
  text::json_array out;
  for (int l = 0; l < p.layers.size(); ++l) {
    const auto& part = p.parts[l];
    if (!part.is_own() || (part.what == parts::part::kind::whole && part.when.always())) continue;
    text::json_array begin, end;
    for (int a = 0; a < part.of.rank && a < tensor::region::axes; ++a) {
      begin.add(part.box.begin[a]);
      end.add(part.box.end[a]);
    }
    auto one = text::json_object()
                   .add("layer", part.layer)
                   .add("rank", p.plan.owner[l])
                   .add("begin", begin)
                   .add("end", end)
                   .add("macs", p.layers.layers[l].macs);
    if (!part.when.always()) one.add("frames", frames_text(p, part.when));
    if (part.to > 0) one.add("input_channels", text::json_array().add(part.from).add(part.to));
    out.add(one);
  }
  return out;
}

/// The mapping: its text, and in parts, from which scripts make other mappings.
[[gnu::cold]] inline text::json_object mapping_json(const runtime::program& p) {
  text::json_array entries;
  for (const auto& e : p.mapping.entries) {
    auto one = text::json_object().add("text", placement::detail::entry_text(e, p.network, p.network_layers()));
    if (e.what == placement::entry::kind::dev) {
      text::json_array limits;
      for (const auto& l : e.dev.limits) limits.add(placement::detail::limit_text(l));
      one.add("rank", e.dev.rank).add("unit", placement::unit_text(e.dev.unit, e.dev.cores, "dice::")).add("limits", limits);
    }
    entries.add(one);
  }
  return text::json_object()
      .add("text", placement::write(p.mapping, p.network, p.network_layers()))
      .add("begin", placement::detail::begin_text(p.mapping, p.network))
      .add("entries", entries);
}

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
  for (const auto& m : p.plan.messages) {
    auto one = text::json_object()
                   .add("from", m.from)
                   .add("to", m.to)
                   .add("tag", m.tag)
                   .add("layer", p.whole(m.layer))
                   .add("bytes", m.bytes);
    if (!p.plan.replicas.empty()) one.add("frames", frames_text(p, m));
    messages.add(one);
  }
  text::json_array inputs, outputs;
  for (int l = 0; l < p.layers.size(); ++l)
    if (const auto& layer = p.layers.layers[l]; layer.is_input || layer.is_output)
      (layer.is_input ? inputs : outputs).add(text::json_object().add("name", layer.onnx_name).add("rank", p.plan.owner[l]));
  auto out = text::json_object()
                 .add("network", p.network)
                 .add("plan", runtime::plan_digest(p))
                 .add("dice", p.version)
                 .add("mapping", mapping_json(p))
                 .add("in_flight", p.plan.in_flight)
                 .add("ranks", ranks)
                 .add("inputs", inputs)
                 .add("outputs", outputs)
                 .add("messages", messages);
  if (!p.parts.empty()) out.add("parts", parts_json(p));
  return out;
}

/// "\nReplicas:\nrank 1: conv3 … relu3 for 1 of 2 frames\n": which ranks compute what for some frames only.
[[gnu::cold]] inline std::string replicas_text(const runtime::program& p) {
  std::string out;
  for (int set = 0; set < static_cast<int>(p.plan.replicas.size()); ++set)
    for (int member = 0; member < p.plan.replicas[set].members; ++member) {
      const parts::turn own{set, member};
      std::vector<int> layers;
      int rank = 0;
      for (int l = 0; l < p.layers.size(); ++l)
        if (const auto& part = p.parts[l]; part.what == parts::part::kind::whole && part.when == own) {
          layers.push_back(part.layer);
          rank = p.plan.owner[l];
        }
      const bool in_turn = p.plan.replicas[set].decides < 0;
      out += "rank " + std::to_string(rank) + ": " + runs_text(p, layers) + (in_turn ? " for " : " ") + frames_text(p, own) +
             (in_turn ? " frames\n" : "\n");
    }
  return out.empty() ? out : "\nReplicas:\n" + out;
}

/// What each rank computes of each layer in parts, as a table after an empty line.
[[gnu::cold]] inline std::string parts_table(const runtime::program& p) {
  std::vector<std::vector<std::string>> lines{{"layer"}};
  for (int r = 0; r < p.ranks(); ++r) lines[0].push_back("rank " + std::to_string(r));
  for (int whole = 0; whole < p.network_layers().size(); ++whole) {
    std::vector<std::string> line(lines[0].size());
    for (int l = 0; l < p.layers.size(); ++l) {
      if (!p.is_own(l) || p.whole(l) != whole) continue;
      const auto text = part_text(p, l);
      auto& cell = line[static_cast<std::size_t>(p.plan.owner[l]) + 1];
      if (!text.empty()) {
        cell += (cell.empty() ? "" : "; ") + text;
        line[0] = p.network_layers().layers[whole].name;
      }
    }
    if (!line[0].empty()) lines.push_back(line);
  }
  return lines.size() == 1 ? "" : "\nParts:\n" + text::table_text(lines, lines[0].size());
}

/// The plan as a table.
[[gnu::cold]] inline std::string plan_table(const runtime::program& p) {
  std::string out = "Network " + std::string(p.network) + ": " + std::to_string(p.network_layers().size()) + " layers on " +
                    std::to_string(p.ranks()) + (p.ranks() == 1 ? " rank, " : " ranks, ") +
                    std::to_string(p.plan.in_flight) + (p.plan.in_flight == 1 ? " frame" : " frames") +
                    " in flight at most\n\n";
  std::vector<std::vector<std::string>> lines{
      {"rank", "unit", "layers", "MMAC", "weights", "arena", "peak", "sends", "receives"}};
  for (const auto& r : p.plan.ranks) {
    std::int64_t sent = 0, received = 0;
    int sends = 0, receives = 0;
    for (const auto& m : p.plan.messages) {
      if (m.from == r.rank) {
        sent += m.bytes;
        ++sends;
      }
      if (m.to == r.rank) {
        received += m.bytes;
        ++receives;
      }
    }
    char macs[32];
    std::snprintf(macs, sizeof macs, "%.1f", static_cast<double>(r.macs) / 1e6);
    const auto flow = [](int n, std::int64_t bytes) {
      return n ? std::to_string(n) + " (" + text::bytes_text(bytes) + ")" : std::string("–");
    };
    lines.push_back({std::to_string(r.rank), unit_text(p, r.rank), std::to_string(layers_of(p, r.rank).size()), macs,
                     text::bytes_text(r.weight_bytes), text::bytes_text(r.arena_bytes), text::bytes_text(r.peak_bytes),
                     flow(sends, sent), flow(receives, received)});
  }
  out += text::table_text(lines, 2) + "\n";
  for (const auto& r : p.plan.ranks)
    out += "rank " + std::to_string(r.rank) + ": " + runs_text(p, layers_of(p, r.rank)) + "\n";
  if (!p.parts.empty()) out += replicas_text(p) + parts_table(p);
  if (!p.plan.messages.empty()) {
    out += "\nMessages of one frame:\n";
    lines = {{"layer", "from", "to", "tag", "size"}};
    for (const auto& m : p.plan.messages)
      lines.push_back({layer_name(p, m.layer), std::to_string(m.from), std::to_string(m.to), std::to_string(m.tag),
                       text::bytes_text(m.bytes)});
    if (!p.plan.replicas.empty()) {
      lines[0].push_back("frames");
      for (std::size_t m = 0; m < p.plan.messages.size(); ++m) lines[m + 1].push_back(frames_text(p, p.plan.messages[m]));
    }
    out += text::table_text(lines, 1);
  }
  return out;
}

}  // namespace dice::report
