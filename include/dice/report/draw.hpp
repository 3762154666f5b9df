// What --plan=dot and --plan=svg print: the network as its ranks compute it, drawn by Graphviz if it is installed.
#pragma once

#include "dice/report/drawn.hpp"
#include "dice/report/layered.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/foreign.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::report {

namespace detail {

/// `text` as a quoted string of the DOT language, with line breaks; otherwise as text::shown() shows it.
inline std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text::shown(text, "\n")) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') out += "\\n";
    else if (c == '&') out += "&amp;";  // labels may have entities of HTML
    else out += c;
  }
  return out + "\"";
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
  std::set<std::pair<int, int>> drawn;
  for (const auto& e : edges)
    if (const auto ends = std::pair(nodes.of_layer[e.from], nodes.of_layer[e.to]);
        owner(e.from) == owner(e.to) && ends.first != ends.second && drawn.insert(ends).second)
      arrows += "  " + node(e.from) + " -> " + node(e.to) + ";\n";
  std::vector<std::string> points(p.plan.ranks.size());  // of each rank
  int number = 0;
  for (const auto& a : detail::arrows_of(p, nodes)) {
    const std::string dark = dot_string(detail::colours_of(a.from).line);
    const bool fork = a.readers.size() > 1;
    const auto end = fork ? "m" + std::to_string(number) : node(a.readers.at(0));
    ++number;
    arrows += "  " + node(a.node) + " -> " + end + " [label=" + dot_string("  " + a.text) + ", style=bold, color=" + dark +
              ", fontcolor=" + dark + (fork ? ", dir=none];\n" : "];\n");
    if (!fork) continue;
    points[a.to] += "    " + end + " [shape=point, width=0.07, height=0.07, color=" + dark + ", fillcolor=" + dark + "];\n";
    for (int r : a.readers) arrows += "  " + end + " -> " + node(r) + ";\n";
  }

  std::string out = "digraph plan {\n  graph [label=" + dot_string(detail::title_of(p)) +
                    ", labelloc=t, newrank=true, nodesep=0.35, ranksep=0.4, fontname=\"sans-serif\", fontsize=12];\n"
                    "  node [shape=box, style=filled, fillcolor=white, height=0.3, margin=\"0.1,0.05\", "
                    "fontname=\"sans-serif\", fontsize=11];\n"
                    "  edge [arrowsize=0.7, fontname=\"sans-serif\", fontsize=10];\n";
  for (const auto& r : p.plan.ranks) {
    const auto& [line, fill] = detail::colours_of(r.rank);
    const auto heading = "h" + std::to_string(r.rank);
    out += "  subgraph cluster_" + std::to_string(r.rank) +
           " {\n    graph [label=\"\", style=\"filled,rounded\", color=" + dot_string(line) +
           ", fillcolor=" + dot_string(fill) + "];\n    " + heading + " [label=" + dot_string(detail::heading_of(p, r)) +
           ", shape=plaintext, style=\"\", fontsize=12, fontcolor=" + dot_string(line) + "];\n";
    // The heading is a node, because lines may cross the label of a cluster, but no node.
    std::vector<int> layers;
    for (int l = 0; l < p.layers.size(); ++l)
      if (owner(l) == r.rank) layers.push_back(l);
    arrows += "  " + heading + " -> " + node(layers.at(0)) + " [style=invis];\n";
    for (int l : layers) {
      const auto& text = nodes.text[l];
      const auto& layer = p.layers.layers[l];
      if (text.empty()) continue;
      out += "    " + node(l) + " [label=" + dot_string(text) +
             (layer.is_input || layer.is_output ? ", style=\"filled,rounded\"];\n" : "];\n");
    }
    out += points[r.rank] + "  }\n";
  }
  return out + arrows + "}\n";
}

/// plan_dot drawn as SVG by Graphviz' program dot; layered_svg if it is not installed. Throws std::runtime_error if it
/// fails; its own messages go to the standard error.
[[gnu::cold]] inline std::string plan_svg(const runtime::program& p) {
  const auto fail = [](const std::string& what) -> std::runtime_error {
    return std::runtime_error("--plan=svg: " + what +
                              "; repair Graphviz (Debian: apt install --reinstall graphviz), or write --plan=dot > "
                              "plan.dot here and draw it elsewhere: dot -Tsvg plan.dot > plan.svg");
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
  if (error == ENOENT) return layered_svg(p);
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
