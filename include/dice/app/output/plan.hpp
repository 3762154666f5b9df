// What --plan prints: the plan from the program's values alone, without MPI, weights or a GPU. Here and elsewhere, functions
// that make texts once are cold: compiled for size, each costs a program half the compile time.
#pragma once

#include "dice/app/output/json.hpp"
#include "dice/mapping/text/write.hpp"
#include "dice/runtime/program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace dice::app {

/// "cpu", "cores<0, 1>", "threads<4>", "gpu", "gpu_at<1>", "gpu, precision<fp16>".
inline std::string unit_text(const runtime::program& p, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const auto u = r < p.units.size() ? p.units[r] : platform::unit{};
  const auto in = placement::precision_text(u.precision);
  return placement::unit_text(u, r < p.cores.size() ? p.cores[r] : std::span<const int>(), "") +
         (in.empty() ? "" : ", precision<" + std::string(in) + ">");
}

namespace detail {

inline std::string bytes_text(std::int64_t bytes) {
  char out[32];
  if (bytes < 10240) std::snprintf(out, sizeof out, "%lld B", static_cast<long long>(bytes));
  else if (bytes < (10 << 20)) std::snprintf(out, sizeof out, "%.1f KiB", static_cast<double>(bytes) / 1024);
  else std::snprintf(out, sizeof out, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return out;
}

inline std::string number_text(double value, const char* form) {
  char out[128];
  std::snprintf(out, sizeof out, form, value);
  return out;
}

/// Lines of cells, columns as wide as their widest cell; the first `left` columns are aligned to the left.
[[gnu::cold]] inline std::string table_text(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  const auto width_of = [](const std::string& s) {  // UTF-8: code points
    return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string pad(widths[c] - width_of(line[c]), ' ');
      text += (c ? "  " : "") + (c < left ? line[c] + pad : pad + line[c]);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

/// Ids owned by `rank`, ascending.
inline std::vector<int> layers_of(const runtime::program& p, int rank) {
  std::vector<int> out;
  for (std::size_t l = 0; l < p.plan.owner.size(); ++l)
    if (p.plan.owner[l] == rank) out.push_back(static_cast<int>(l));
  return out;
}

[[gnu::cold]] inline std::string plan_json(const runtime::program& p) {
  std::string out = "{\"network\": " + json_string(p.network) + ", \"in_flight\": " + std::to_string(p.plan.in_flight) +
                    ",\n \"ranks\": [";
  for (std::size_t i = 0; i < p.plan.ranks.size(); ++i) {
    const auto& r = p.plan.ranks[i];
    out += (i ? ",\n  " : "\n  ");
    out += "{\"rank\": " + std::to_string(r.rank) + ", \"unit\": " + json_string(unit_text(p, r.rank)) + ", \"layers\": [";
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

/// "conv1 … pool3, fc1": runs of ids that follow each other.
[[gnu::cold]] inline std::string runs_text(const runtime::program& p, const std::vector<int>& ids) {
  const auto name = [&](int l) { return std::string(p.layers.layers[static_cast<std::size_t>(l)].name); };
  constexpr int most = 6;
  std::string out;
  int runs = 0;
  for (std::size_t i = 0, j; i < ids.size(); i = j) {
    for (j = i + 1; j < ids.size() && ids[j] == ids[j - 1] + 1;) ++j;
    if (++runs > most) return out + ", …";
    out += (out.empty() ? "" : ", ") + name(ids[i]);
    if (j - i > 1) out += (j - i > 2 ? " … " : ", ") + name(ids[j - 1]);
  }
  return out;
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
      return n ? std::to_string(n) + " · " + bytes_text(bytes) : std::string("–");
    };
    lines.push_back({std::to_string(r.rank), unit_text(p, r.rank), std::to_string(r.layers), macs,
                     bytes_text(r.weight_bytes), bytes_text(r.arena_bytes), bytes_text(r.peak_bytes), flow(sends, sent),
                     flow(receives, received)});
  }
  out += table_text(lines, 2) + "\n";
  for (const auto& r : p.plan.ranks)
    out += "rank " + std::to_string(r.rank) + ": " + runs_text(p, layers_of(p, r.rank)) + "\n";
  if (!p.plan.messages.empty()) {
    out += "\nMessages of one frame:\n";
    lines = {{"layer", "from", "to", "tag", "size"}};
    for (const auto& m : p.plan.messages)
      lines.push_back({std::string(p.layers.layers[static_cast<std::size_t>(m.layer)].name), std::to_string(m.from),
                       std::to_string(m.to), std::to_string(m.tag), bytes_text(m.bytes)});
    out += table_text(lines, 1);
  }
  return out;
}

}  // namespace detail

/// The plan as text: a table, or one JSON object.
inline std::string plan_text(const runtime::program& p, bool json) {
  return json ? detail::plan_json(p) : detail::plan_table(p);
}

}  // namespace dice::app
