// --profile: the time of each layer on the rank that computes it.
#pragma once

#include "dice/job/record.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/trace.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dice::report {

/// Times of one fusion group.
struct group_profile {
  int group = 0;
  double median_ms = 0;
  double spread_ms = 0;  ///< interquartile range: half of the frames lie within it
  double share = 0;      ///< of the rank's computing
};

/// One rank's profile.
struct rank_profile {
  std::string host;
  std::vector<group_profile> groups;  ///< in the order of computation
};

/// A rank's durations, as a text for all_gather.
inline std::string profile_part(const runtime::recorder& r, const std::string& host) {
  job::record out;
  out.put(host);
  for (std::size_t g = 0; g < r.samples().size(); ++g) {
    auto all = r.samples()[g];
    if (all.empty()) continue;
    std::sort(all.begin(), all.end());
    std::int64_t sum = 0;
    for (auto t : all) sum += t;
    const auto at = [&](std::size_t quarter) { return all[(all.size() - 1) * quarter / 4]; };
    out.put(static_cast<std::int64_t>(g));
    out.put(at(2));
    out.put(at(3) - at(1));
    out.put(sum);
  }
  return out.text();
}

[[gnu::cold]] inline std::vector<rank_profile> merge_profiles(const std::vector<std::string>& parts) {
  std::vector<rank_profile> out;
  for (const auto& part : parts) {
    job::record in(part);
    rank_profile r{in.get(), {}};
    double all = 0;
    while (in.more()) {
      group_profile g;
      g.group = static_cast<int>(in.get_number());
      g.median_ms = static_cast<double>(in.get_number()) * 1e-6;
      g.spread_ms = static_cast<double>(in.get_number()) * 1e-6;
      g.share = static_cast<double>(in.get_number());
      all += g.share;
      r.groups.push_back(g);
    }
    for (auto& g : r.groups) g.share = all > 0 ? g.share / all : 0;
    out.push_back(r);
  }
  return out;
}

/// The content of --profile: {"network", "frames", "ranks": [{"rank", "host", "unit", "layers": [{"id", "name", "operator",
/// "ids", "macs", "median_ms", "spread_ms", "share"}]}]}, of parts of layers also "part". An entry is a fusion group: "ids"
/// are its layers, "id" and "operator" are those of its anchor.
[[gnu::cold]] inline std::string profile_json(const runtime::program& p, std::int64_t frames,
                                              const std::vector<rank_profile>& ranks) {
  text::json_array of_ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    text::json_array layers;
    for (const auto& g : ranks[r].groups) {
      const auto& group = p.plan.groups[g.group];
      text::json_array ids;
      std::int64_t macs = 0;
      for (int l : group.layers())
        if (l >= 0) {
          ids.add(p.whole(l));
          macs += p.layers.layers[l].macs;
        }
      auto layer = text::json_object()
                       .add("id", p.whole(group.anchor))
                       .add("name", group_text(p, g.group))
                       .add("operator", p.layers.layers[group.anchor].op)
                       .add("ids", ids)
                       .add("macs", macs)
                       .add("median_ms", g.median_ms)
                       .add("spread_ms", g.spread_ms)
                       .add("share", g.share);
      if (const auto part = part_text(p, group.output()); !part.empty()) layer.add("part", part);
      layers.add(layer);
    }
    of_ranks.add(text::json_object()
                     .add("rank", r)
                     .add("host", ranks[r].host)
                     .add("unit", unit_text(p, static_cast<int>(r)))
                     .add("layers", layers));
  }
  return text::json_object().add("network", p.network).add("frames", frames).add("ranks", of_ranks).json() + "\n";
}

/// The same as a table.
[[gnu::cold]] inline std::string profile_table(const runtime::program& p, const std::vector<rank_profile>& ranks) {
  const auto number = [](const char* format, double v) {
    char text[48];
    std::snprintf(text, sizeof text, format, v);
    return std::string(text);
  };
  std::vector<std::vector<std::string>> lines{{"rank", "layer", "operator", "median ms", "spread ms", "share", "GMAC/s"}};
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const auto& g : ranks[r].groups) {
      const auto& anchor = p.layers.layers[p.plan.groups[g.group].anchor];
      lines.push_back(
          {std::to_string(r), group_text(p, g.group), std::string(anchor.op), number("%.3f", g.median_ms),
           number("%.3f", g.spread_ms), number("%.1f %%", 100 * g.share),
           anchor.macs > 0 && g.median_ms > 0 ? number("%.1f", static_cast<double>(anchor.macs) / g.median_ms * 1e-6) : ""});
    }
  return text::table_text(lines, 3);
}

}  // namespace dice::report
