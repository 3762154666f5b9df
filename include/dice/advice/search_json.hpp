// What --search=…,json prints.
#pragma once

#include "dice/advice/cluster_model.hpp"
#include "dice/advice/measured_search.hpp"
#include "dice/advice/mixes.hpp"
#include "dice/advice/search_request.hpp"
#include "dice/cost/problem.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/mix.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/placement/written.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"

#include <cstddef>
#include <string>

namespace dice::advice::detail {

/// A mapping as --mapping reads it, on one line.
[[gnu::cold]] inline std::string mapping_line(const runtime::program& p, const placement::written_mapping& m) {
  std::string out;
  for (const char c : placement::write(m, p.network, p.network_layers()))
    if (c != '\n') out += c;
    else out += ' ';
  for (std::size_t at; (at = out.find("  ")) != std::string::npos;) out.erase(at, 1);
  return out;
}

/// The mapping that was found, and what is predicted for it.
[[gnu::cold]] inline text::json_object found_json(const runtime::program& p, const search_request& r,
                                                  const placement::written_mapping& m, const cost::prediction& expected) {
  text::json_object out;
  out.add("objective", objective_names[static_cast<std::size_t>(r.wanted.aim.best)])
      .add("mapping", mapping_line(p, m))
      .add("frames_per_s", expected.throughput)
      .add("latency_s", expected.latency);
  if (expected.energy > 0) out.add("energy_j", expected.energy);
  return out.add("memory_bytes", expected.memory);
}

/// The same for a mix, with its ranks, what was searched, how good any mapping could be (in the objective's unit: frames/s,
/// s, J or bytes), and what was measured.
[[gnu::cold]] inline std::string mix_json(const cluster_model& f, const runtime::program& p, const mixes& all,
                                          const search_request& r, const partition::mix_result& found,
                                          const measured_search& measured) {
  const auto written = all.written(found.sections);
  auto out = found_json(p, r, written.mapping.values(), found.expected);
  const auto frame = all.rated(written);
  text::json_array ranks, kinds;
  for (int rank = 0; rank < written.devices.size(); ++rank)
    ranks.add(text::json_object()
                  .add("rank", rank)
                  .add("host", f.setting.cluster.hosts[all.problem().devices[written.devices[rank]].host].name)
                  .add("computing_s", frame.ranks[rank].computing)
                  .add("messages_s", frame.ranks[rank].messages)
                  .add("memory_bytes", frame.ranks[rank].memory));
  const bool fps = r.wanted.aim.best == partition::objective::throughput;
  for (const auto& kind : kinds_in(found.catalogue)) kinds.add(kind);
  out.add("ranks", ranks)
      .add("bound", fps ? 1 / found.bound : found.bound)
      .add("catalogue", text::json_object()
                            .add("effort", r.effort)
                            .add("cut_units", found.cut_units)
                            .add("ways", found.arrangements)
                            .add("borders", found.borders)
                            .add("mappings", found.mappings)
                            .add("kinds", kinds)
                            .add("rated", found.rated)
                            .add("all_rated", found.exact)
                            .add("stopped", found.stopped));
  if (!measured.all.empty()) {
    text::json_array list;
    for (const auto& m : measured.all) {
      text::json_object one;
      one.add("mapping", mapping_line(p, all.written(m.is).mapping.values()))
          .add(fps ? "predicted_frames_per_s" : "predicted_latency_s", fps ? m.expected.throughput : m.expected.latency);
      if (m.failed.empty()) one.add(fps ? "frames_per_s" : "latency_s", fps ? 1 / m.value : m.value);
      else one.add("failed", m.failed);
      list.add(one);
    }
    out.add("measured", list);
    if (measured.compared > 1) out.add("rank_correlation", measured.correlation);
  }
  if (measured.stopped) out.add("measuring_stopped", true);
  return out.json() + "\n";
}

}  // namespace dice::advice::detail
