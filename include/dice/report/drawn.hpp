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
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
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
/// Parts of the same layers on one rank are one node; a piece cut out for others belongs to the node that it is cut out of,
/// and one that is put together belongs to the first node that reads it.
struct nodes {
  std::vector<int> of_layer;
  std::vector<std::string> text;  ///< a line for each layer of the node, and its shape; empty where there is none
};

/// Whether a part is more than a piece of other parts.
constexpr bool computes(const parts::part& part) {
  return part.is_own() || part.what == parts::part::kind::sum || part.what == parts::part::kind::pick;
}

/// Where the layers of a network of parts belong, from the node of each fusion group.
[[gnu::cold]] inline void join_parts(const runtime::program& p, std::vector<int>& of_layer) {
  using kind = parts::part::kind;
  const int n = static_cast<int>(of_layer.size());
  const auto part = [&](int l) -> const parts::part& { return p.parts[l]; };
  std::map<std::tuple<int, int, bool, int, int>, int> last;  // of the same layers on one rank
  const auto key = [&](int node) {
    const auto& of = part(node);
    return std::tuple(p.plan.owner[node], of.layer, of.is_own(), of.when.set, of.when.member);
  };
  for (int l = 0; l < n; ++l)
    if (computes(part(l))) last[key(of_layer[l])] = std::max(last[key(of_layer[l])], of_layer[l]);
  for (int l = 0; l < n; ++l)
    if (computes(part(l))) of_layer[l] = last[key(of_layer[l])];
  const auto taken = [&](int l) {  // whether it is put together, or cut out of what another rank sends
    if (part(l).what == kind::join) return true;
    return !computes(part(l)) && p.plan.owner[p.layers.into(l)[0].from] != p.plan.owner[l];
  };
  std::vector<int> first(of_layer.size(), -1);  // node on its own rank that reads it, if not only to cut something out
  for (int l = n - 1; l >= 0; --l) {
    if (taken(l) && first[l] >= 0) of_layer[l] = first[l];
    if (!computes(part(l)) && (!taken(l) || first[l] < 0)) continue;
    for (const auto& e : p.layers.into(l))
      if (p.plan.owner[e.from] == p.plan.owner[l] && (first[e.from] < 0 || of_layer[l] < first[e.from]))
        first[e.from] = of_layer[l];
  }
  for (int l = 0; l < n; ++l)
    if (!computes(part(l)) && !taken(l))
      if (const int of = p.layers.into(l)[0].from; computes(part(of))) of_layer[l] = of_layer[of];
}

[[gnu::cold]] inline nodes nodes_of(const runtime::program& p) {
  nodes out{std::vector<int>(p.layers.layers.size()), std::vector<std::string>(p.layers.layers.size())};
  std::iota(out.of_layer.begin(), out.of_layer.end(), 0);
  for (const auto& g : p.plan.groups)
    for (int l : g.layers())
      if (l >= 0) out.of_layer[l] = g.output();
  if (!p.parts.empty()) join_parts(p, out.of_layer);
  std::vector<std::vector<int>> layers(out.text.size());  // of each node, without what is cut out and put together there
  for (int l = 0; l < p.layers.size(); ++l)
    if (const int node = out.of_layer[l]; node == l || p.parts.empty() || computes(p.parts[l])) layers[node].push_back(l);
  for (std::size_t node = 0; node < layers.size(); ++node) {
    const auto& in = layers[node];
    auto& text = out.text[node];
    for (auto l = in.begin(); l != in.end(); ++l) {
      const auto same = [&](int k) { return p.whole(k) == p.whole(*l) && p.is_own(k) == p.is_own(*l); };
      if (std::any_of(in.begin(), l, same)) continue;  // told with the first part
      const auto parts = std::count_if(l, in.end(), same);
      text += (text.empty() ? "" : "\n+ ") +
              (parts == 1 ? layer_name(p, *l)
                          : std::string(p.layers.layers[*l].name) + " (" + std::to_string(parts) + " parts)") +
              "  " + operator_text(p, *l);
      if (parts == 1 && same(static_cast<int>(node))) text += "\n" + shape_text(p.layers.layers[node].output);
    }
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

/// An arrow of a drawing: the messages from one node to the same nodes of another rank.
struct arrow {
  int node, from, to;        ///< the node that sends; the ranks
  std::vector<int> readers;  ///< the nodes that read a message, or a tensor within it
  std::string text;          ///< "tag 1 · 512 B", or "3 messages · 1.5 KiB"
};
[[gnu::cold]] inline std::vector<arrow> arrows_of(const runtime::program& p, const nodes& all) {
  std::vector<arrow> out;
  std::vector<std::vector<int>> of;  // the messages of each
  for (std::size_t m = 0; m < p.plan.messages.size(); ++m) {
    const auto& msg = p.plan.messages[m];
    std::vector<char> brought(p.plan.owner.size());
    brought[msg.layer] = 1;
    schedule::each_carried(p.plan, p.layers, msg.to, [&](int t, int by, std::int64_t) {
      if (&p.plan.messages[by] == &msg) brought[t] = 1;
    });
    arrow one{all.of_layer[msg.layer], msg.from, msg.to, {}, ""};
    for (const auto& e : p.layers.edges)
      if (const int reader = all.of_layer[e.to];
          brought[e.from] && p.plan.owner[e.to] == msg.to &&
          std::find(one.readers.begin(), one.readers.end(), reader) == one.readers.end())
        one.readers.push_back(reader);
    const auto same = std::find_if(out.begin(), out.end(), [&](const arrow& other) {
      const auto& first = p.plan.messages[of[&other - out.data()][0]];
      return other.node == one.node && other.to == one.to && other.readers == one.readers && first.made == msg.made &&
             first.read == msg.read;
    });
    const auto at = static_cast<std::size_t>(same - out.begin());
    if (same == out.end()) {
      of.emplace_back();
      out.push_back(std::move(one));
    }
    of[at].push_back(static_cast<int>(m));
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::int64_t bytes = 0;
    for (const int m : of[k]) bytes += p.plan.messages[m].bytes;
    out[k].text = (of[k].size() == 1 ? "tag " + std::to_string(p.plan.messages[of[k][0]].tag)
                                     : std::to_string(of[k].size()) + " messages") +
                  " · " + text::bytes_text(bytes) + frames_after(frames_text(p, p.plan.messages[of[k][0]]));
  }
  return out;
}

}  // namespace dice::report::detail
