// What drawings of a plan share: their texts, their colours, and which layers form a node.
#pragma once

#include "dice/report/names.hpp"
#include "dice/runtime/program.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace dice::report::detail {

/// A rank's colours: dark for lines and text (contrast with white and with every fill at least 4.5), light for its area.
struct colours {
  const char *line, *fill;
};
inline constexpr std::array<colours, 8> palette{{{"#0b4f8a", "#e3eef8"},
                                                 {"#8f3b00", "#fbebdf"},
                                                 {"#0f5f3a", "#e2f3e9"},
                                                 {"#7a1f6b", "#f6e6f3"},
                                                 {"#5c5200", "#f5f2d8"},
                                                 {"#0a5c63", "#dff3f4"},
                                                 {"#8a1c1c", "#fae5e5"},
                                                 {"#404040", "#eeeeee"}}};
inline const colours& colours_of(int rank) { return palette[static_cast<std::size_t>(rank) % palette.size()]; }

inline std::string macs_text(std::int64_t macs) {
  if (macs < 10'000) return std::to_string(macs) + " MAC";
  char out[32];
  const bool millions = macs >= 1'000'000;
  std::snprintf(out, sizeof out, "%.1f %sMAC", static_cast<double>(macs) / (millions ? 1e6 : 1e3), millions ? "M" : "k");
  return out;
}

/// "1×3×224×224".
inline std::string shape_text(const tensor::shape& s) {
  std::string out;
  for (int a = 0; a < s.rank; ++a) out += (a ? "×" : "") + std::to_string(s[a]);
  return out.empty() ? "scalar" : out;
}

/// The nodes of a drawing: one for each fusion group and each layer outside of groups, named by the id of its last layer.
struct nodes {
  std::vector<int> of_layer;
  std::vector<std::string> text;  ///< a line for each layer of the node; empty where there is none
};
[[gnu::cold]] inline nodes nodes_of(const runtime::program& p) {
  nodes out{std::vector<int>(p.layers.layers.size()), std::vector<std::string>(p.layers.layers.size())};
  std::iota(out.of_layer.begin(), out.of_layer.end(), 0);
  for (const auto& g : p.plan.groups)
    for (int l : g.layers())
      if (l >= 0) out.of_layer[l] = g.output();
  for (std::size_t l = 0; l < out.text.size(); ++l) {
    auto& text = out.text[out.of_layer[l]];
    text += (text.empty() ? "" : "\n+ ") + layer_name(p, static_cast<int>(l)) + "  " + std::string(p.layers.layers[l].op);
  }
  return out;
}

/// The title of a drawing, in one or two lines.
[[gnu::cold]] inline std::string title_of(const runtime::program& p) {
  return std::string(p.network) + ": " + std::to_string(p.network_layers().size()) + " layers on " +
         std::to_string(p.ranks()) + (p.ranks() == 1 ? " rank" : " ranks") +
         (p.plan.messages.empty() ? "" : "\nbold: the messages of one frame");
}

/// The heading of a rank, in three lines.
[[gnu::cold]] inline std::string heading_of(const runtime::program& p, const schedule::rank_program& r) {
  return "rank " + std::to_string(r.rank) + " · " + unit_text(p, r.rank) + "\n" + macs_text(r.macs) + " · weights " +
         text::bytes_text(r.weight_bytes) + "\npeak memory " + text::bytes_text(r.peak_bytes);
}

/// "tag 1 · 512 B".
inline std::string message_text(const schedule::message& m) {
  return "tag " + std::to_string(m.tag) + " · " + text::bytes_text(m.bytes);
}

/// The nodes that read a message, or a tensor within it, each once.
[[gnu::cold]] inline std::vector<int> readers_of(const runtime::program& p, const nodes& all, const schedule::message& m) {
  std::vector<char> brought(p.plan.owner.size());
  brought[m.layer] = 1;
  schedule::each_carried(p.plan, p.layers, m.to, [&](int t, int by, std::int64_t) {
    if (&p.plan.messages[by] == &m) brought[t] = 1;
  });
  std::vector<int> out;
  for (const auto& e : p.layers.edges)
    if (brought[e.from] && p.plan.owner[e.to] == m.to && std::find(out.begin(), out.end(), all.of_layer[e.to]) == out.end())
      out.push_back(all.of_layer[e.to]);
  return out;
}

}  // namespace dice::report::detail
