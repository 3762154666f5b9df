// What --plan=dot and --plan=svg print: the network as its ranks compute it, drawn by Graphviz.
#pragma once

#include "dice/report/plan.hpp"
#include "dice/runtime/program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dice::report {

namespace detail {

/// `text` as a quoted string of the DOT language that is shown as it is, with line breaks; other control characters become
/// blanks.
inline std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (c == '&') out += "&amp;";  // labels may have entities of HTML
    else out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out + "\"";
}

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
    text += (text.empty() ? "" : "\n+ ") + std::string(p.layers.layers[l].name) + "  " + std::string(p.layers.layers[l].op);
  }
  return out;
}

}  // namespace detail

/// The plan in the DOT language: a cluster for each rank, in it a node for each layer (one for a fusion group), plain edges
/// within a rank, and one bold edge for each message. A message that several nodes read ends at a point in front of them.
[[gnu::cold]] inline std::string plan_dot(const runtime::program& p) {
  using detail::dot_string;
  const auto& edges = p.layers.edges;
  const auto nodes = detail::nodes_of(p);
  const auto owner = [&](int l) { return p.plan.owner[l]; };
  const auto node = [&](int l) { return "l" + std::to_string(nodes.of_layer[l]); };

  std::string arrows;
  for (const auto& e : edges)
    if (owner(e.from) == owner(e.to) && node(e.from) != node(e.to))
      arrows += "  " + node(e.from) + " -> " + node(e.to) + ";\n";
  std::vector<std::string> points(p.plan.ranks.size());  // of each rank
  for (std::size_t m = 0; m < p.plan.messages.size(); ++m) {
    const auto& msg = p.plan.messages[m];
    std::vector<std::string> readers;
    for (const auto& e : edges)
      if (e.from == msg.layer && owner(e.to) == msg.to &&
          std::find(readers.begin(), readers.end(), node(e.to)) == readers.end())
        readers.push_back(node(e.to));
    const std::string dark = dot_string(detail::colours_of(msg.from).line);
    const bool fork = readers.size() > 1;
    const auto end = fork ? "m" + std::to_string(m) : readers.at(0);
    arrows += "  " + node(msg.layer) + " -> " + end +
              " [label=" + dot_string("  tag " + std::to_string(msg.tag) + " · " + text::bytes_text(msg.bytes)) +
              ", style=bold, color=" + dark + ", fontcolor=" + dark + (fork ? ", dir=none];\n" : "];\n");
    if (!fork) continue;
    points[msg.to] +=
        "    " + end + " [shape=point, width=0.07, height=0.07, color=" + dark + ", fillcolor=" + dark + "];\n";
    for (const auto& r : readers) arrows += "  " + end + " -> " + r + ";\n";
  }

  auto title = std::string(p.network) + ": " + std::to_string(p.layers.size()) + " layers on " + std::to_string(p.ranks()) +
               (p.ranks() == 1 ? " rank" : " ranks") + (p.plan.messages.empty() ? "" : "\nbold: the messages of one frame");
  std::string out = "digraph plan {\n  graph [label=" + dot_string(title) +
                    ", labelloc=t, newrank=true, nodesep=0.35, ranksep=0.4, fontname=\"sans-serif\", fontsize=12];\n"
                    "  node [shape=box, style=filled, fillcolor=white, height=0.3, margin=\"0.1,0.05\", "
                    "fontname=\"sans-serif\", fontsize=11];\n"
                    "  edge [arrowsize=0.7, fontname=\"sans-serif\", fontsize=10];\n";
  for (const auto& r : p.plan.ranks) {
    const auto& [line, fill] = detail::colours_of(r.rank);
    const auto about = "rank " + std::to_string(r.rank) + " · " + unit_text(p, r.rank) + "\n" + detail::macs_text(r.macs) +
                       " · weights " + text::bytes_text(r.weight_bytes) + "\npeak memory " + text::bytes_text(r.peak_bytes);
    out += "  subgraph cluster_" + std::to_string(r.rank) + " {\n    graph [label=" + dot_string(about) +
           ", labeljust=l, style=\"filled,rounded\", color=" + dot_string(line) + ", fontcolor=" + dot_string(line) +
           ", fillcolor=" + dot_string(fill) + "];\n";
    for (int l : layers_of(p, r.rank)) {
      const auto& text = nodes.text[l];
      const auto& layer = p.layers.layers[l];
      if (!text.empty())
        out += "    " + node(l) + " [label=" + dot_string(text + "\n" + detail::shape_text(layer.output)) +
               (layer.is_input || layer.is_output ? ", style=\"filled,rounded\"];\n" : "];\n");
    }
    out += points[r.rank] + "  }\n";
  }
  return out + arrows + "}\n";
}

/// plan_dot drawn as SVG by Graphviz' program dot. Throws std::runtime_error if it is not installed or fails; its own
/// messages go to the standard error.
[[gnu::cold]] inline std::string plan_svg(const runtime::program& p) {
  const auto fail = [](const std::string& what) -> std::runtime_error {
    return std::runtime_error("--plan=svg: " + what +
                              "; install Graphviz (Debian: apt install graphviz), or write --plan=dot > plan.dot "
                              "here and draw it elsewhere: dot -Tsvg plan.dot > plan.svg");
  };
  // Files, not pipes: neither side ever waits for the other to read.
  using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const file in(std::tmpfile(), std::fclose), out(std::tmpfile(), std::fclose);
  const auto text = plan_dot(p);
  if (!in || !out || std::fwrite(text.data(), 1, text.size(), in.get()) != text.size() || std::fflush(in.get()) != 0 ||
      std::fseek(in.get(), 0, SEEK_SET) != 0)
    throw std::runtime_error(std::string("--plan=svg: no temporary file can be written: ") + std::strerror(errno));

  posix_spawn_file_actions_t redirect;
  posix_spawn_file_actions_init(&redirect);
  posix_spawn_file_actions_adddup2(&redirect, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(out.get()), STDOUT_FILENO);
  char program[] = "dot", format[] = "-Tsvg";
  char* const words[] = {program, format, nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program, &redirect, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&redirect);
  if (error == ENOENT) throw fail("the program dot is not found");
  if (error != 0) throw fail(std::string("the program dot does not start: ") + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw fail(std::string("the program dot is lost: ") + std::strerror(errno));
  if (WIFSIGNALED(status)) throw fail("the program dot was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) throw fail("the program dot failed with exit code " + std::to_string(WEXITSTATUS(status)));

  std::string svg;
  char part[4096];
  std::rewind(out.get());
  while (const auto n = std::fread(part, 1, sizeof part, out.get())) svg.append(part, n);
  if (svg.find("<svg") == std::string::npos) throw fail("the program dot wrote no drawing");
  return svg;
}

}  // namespace dice::report
