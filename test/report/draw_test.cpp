// The drawing of a plan and its list of steps, read back and compared with the plan and the network.
#include "dot_reader.hpp"
#include "runtime/toy.hpp"
#include "schedule/random_network.hpp"

#include "dice/report/draw.hpp"
#include "dice/report/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>
#include <sstream>

using namespace dice;

namespace {

/// A random network with names that are hard to quote, and a plan of it with each layer on a random rank.
struct drawn {
  drawn(unsigned seed, int size, int ranks, bool in_slices) : net(seed, size) {
    std::mt19937 draw(seed);
    const char* const twists[] = {"", "\"", "\\", "\\n", "&lt;", "{a|b}", "<b>", "ü×·", "];", "\\\"", "&", "->"};
    const int n = net.view().size();
    for (int l = 0; l < n; ++l) {
      names.push_back("n" + std::to_string(l) + twists[draw() % std::size(twists)]);
      net.layers[l].name = names.back();
      owner.push_back(l < ranks ? l : in_slices ? l * ranks / n : static_cast<int>(draw() % static_cast<unsigned>(ranks)));
    }
    for (int r = 0; r < ranks; ++r) devices.push_back({r, {}, -1});
    algorithms.resize(net.layers.size());
    plan = schedule::build({net.view(), owner, devices, algorithms, 4});
  }
  runtime::program program() const {
    return {.version = "1",
            .network = "\"twisted\" & \\N",
            .layers = net.view(),
            .plan = plan.view(),
            .kernels = {},
            .parameters = {},
            .weights = {},
            .weights_folder = {},
            .units = {},
            .cores = {},
            .hosts = {},
            .threads = {}};
  }
  int rank(int l) const { return owner[l]; }

  test::random_network net;
  std::deque<std::string> names;
  std::vector<int> owner;
  std::vector<platform::device> devices;
  std::vector<algorithm::choice> algorithms;
  schedule::built_plan plan;
};

/// Names of the layers that a node shows: before the two blanks of each line.
std::vector<std::string> layers_in(const std::string& label) {
  std::vector<std::string> out;
  std::istringstream lines(label);
  for (std::string line; std::getline(lines, line);) {
    if (const auto end = line.find("  "); end != std::string::npos)
      out.push_back(line.substr(out.empty() ? 0 : 2, end - (out.empty() ? 0 : 2)));
  }
  return out;
}

void check(const drawn& d) {
  const auto p = d.program();
  const auto graph = test::dot_reader(report::plan_dot(p)).result;
  const auto view = d.net.view();
  EXPECT_EQ(graph.clusters.size(), d.devices.size() + 1);
  EXPECT_NE(graph.clusters.at("").at("label").find(p.network), std::string::npos);
  for (const auto& r : p.plan.ranks) {
    const auto& heading = graph.nodes.at("h" + std::to_string(r.rank));
    EXPECT_EQ(heading.cluster, "cluster_" + std::to_string(r.rank));
    const auto& label = heading.has.at("label");
    for (const auto& text : {"rank " + std::to_string(r.rank) + " · cpu\n", "weights " + text::bytes_text(r.weight_bytes),
                             "peak memory " + text::bytes_text(r.peak_bytes), report::detail::macs_text(r.macs)})
      EXPECT_NE(label.find(text), std::string::npos) << label;
  }
  // Every layer is in one node, on its rank, together with its fusion group.
  std::map<std::string, std::string> node_of;
  std::set<std::string> points;
  for (const auto& [id, node] : graph.nodes) {
    if (node.has.count("shape")) {
      if (node.has.at("shape") == "point") points.insert(id);
      continue;
    }
    for (const auto& name : layers_in(node.has.at("label"))) EXPECT_TRUE(node_of.emplace(name, id).second) << name;
  }
  ASSERT_EQ(node_of.size(), d.names.size());
  const auto node = [&](int l) { return node_of.at(d.names[l]); };
  for (int l = 0; l < view.size(); ++l) EXPECT_EQ(graph.nodes.at(node(l)).cluster, "cluster_" + std::to_string(d.rank(l)));
  std::size_t grouped = 0;
  for (const auto& g : p.plan.groups)
    for (int l : g.layers()) {
      if (l < 0 || l == g.anchor) continue;
      EXPECT_EQ(node(l), node(g.anchor));
      ++grouped;
    }
  EXPECT_EQ(graph.nodes.size(), d.names.size() - grouped + points.size() + d.devices.size());

  // One bold edge for each message, with its tag and size, and exactly the arrows of the network.
  std::map<std::string, std::string> source;  // of a point
  std::set<std::pair<std::string, std::string>> arrows, bold, wanted, messages;
  for (const auto& e : graph.edges) {
    ASSERT_TRUE(graph.nodes.count(e.from) && graph.nodes.count(e.to));
    if (e.has.count("style") && e.has.at("style") == "invis") {
      EXPECT_EQ(e.from[0], 'h');
      EXPECT_EQ(graph.nodes.at(e.from).cluster, graph.nodes.at(e.to).cluster);
      continue;
    }
    const bool is_bold = e.has.count("style") && e.has.at("style") == "bold";
    EXPECT_EQ(is_bold, graph.nodes.at(e.from).cluster != graph.nodes.at(e.to).cluster);
    if (is_bold) {
      EXPECT_TRUE(bold.emplace(e.from + " " + graph.nodes.at(e.to).cluster, e.has.at("label")).second);
    }
    if (points.count(e.to)) source[e.to] = e.from;
  }
  for (const auto& e : graph.edges)
    if (!points.count(e.to) && e.from[0] != 'h') arrows.emplace(points.count(e.from) ? source.at(e.from) : e.from, e.to);
  std::map<std::pair<int, int>, int> brought;  // by tensor and rank: the Concat within which it comes
  for (std::size_t r = 0; r < d.devices.size(); ++r)
    schedule::each_carried(p.plan, view, static_cast<int>(r), [&](int t, int m, std::int64_t) {
      brought[{t, static_cast<int>(r)}] = p.plan.messages[m].layer;
    });
  for (const auto& e : view.edges) {
    const auto by = brought.find({e.from, d.rank(e.to)});
    if (node(e.from) != node(e.to)) wanted.emplace(node(by == brought.end() ? e.from : by->second), node(e.to));
  }
  for (const auto& m : p.plan.messages)
    messages.emplace(node(m.layer) + " cluster_" + std::to_string(m.to),
                     "  tag " + std::to_string(m.tag) + " · " + text::bytes_text(m.bytes));
  EXPECT_EQ(arrows, wanted);
  EXPECT_EQ(bold, messages);
}

double luminance(const std::string& colour) {  // WCAG 2
  double out = 0;
  const double weight[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    out += weight[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return out;
}
double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST(draw, random_plans) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    check(drawn(seed, 12 + static_cast<int>(seed), 1 + static_cast<int>(seed) % 8, seed % 2));
  }
}

TEST(draw, a_large_network) {
  check(drawn(7, 910, 1, true));
  check(drawn(8, 910, 8, true));
  check(drawn(9, 910, 8, false));
}

TEST(draw, text_is_shown_as_it_is) {
  EXPECT_EQ(report::detail::dot_string("a\"b\\N&lt;\nc\x01\x7f ü"), R"("a\"b\\N&amp;lt;\nc\\x01\\x7f ü")");
  EXPECT_EQ(report::detail::dot_string("\\"), R"("\\")");
  EXPECT_EQ(report::detail::macs_text(9999), "9999 MAC");
  EXPECT_EQ(report::detail::macs_text(10'000), "10.0 kMAC");
  EXPECT_EQ(report::detail::macs_text(123456), "123.5 kMAC");
  EXPECT_EQ(report::detail::macs_text(1'000'000), "1.0 MMAC");
  EXPECT_EQ(report::detail::macs_text(19'632'062'464), "19632.1 MMAC");
}

TEST(draw, colours_are_readable) {
  for (const auto& own : report::detail::palette) {
    EXPECT_GE(contrast(own.line, "#ffffff"), 4.5) << own.line;
    for (const auto& other : report::detail::palette)
      EXPECT_GE(contrast(own.line, other.fill), 4.5) << own.line << " on " << other.fill;
    EXPECT_GE(luminance(own.fill), 0.8) << own.fill << " is no light grey in print";
  }
}

TEST(draw, a_large_network_without_graphviz) {
  for (const bool in_slices : {true, false}) {
    const auto svg = report::layered_svg(drawn(8, 910, 8, in_slices).program());
    EXPECT_NE(svg.find("\"twisted\" &amp; \\N"), std::string::npos);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
    EXPECT_LT(svg.size(), 50'000'000u);
  }
}

TEST(draw, svg) {
  if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "Graphviz is not installed";
  for (const auto& [size, ranks] : {std::pair(60, 1), std::pair(910, 8)}) {
    const drawn d(5, size, ranks, true);
    const auto nodes = test::dot_reader(report::plan_dot(d.program())).result.nodes.size();
    const auto svg = report::plan_svg(d.program());
    std::size_t found = 0;
    for (auto at = svg.find("class=\"node\""); at != std::string::npos; at = svg.find("class=\"node\"", at + 1)) ++found;
    EXPECT_EQ(found, nodes);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
    EXPECT_NE(svg.find("&quot;twisted&quot; &amp; \\N"), std::string::npos) << svg.substr(0, 2000);
  }
}

TEST(draw, a_small_plan) {
  // in → scale → (two scales → sum on rank 1) and the first scale → sum → sum with itself → out.
  const toy::program p({{toy::op::input, {}},
                        {toy::op::scale, {0}},
                        {toy::op::packed, {1}},
                        {toy::op::scale, {1}},
                        {toy::op::sum, {2, 3}},
                        {toy::op::sum, {4, 1}},
                        {toy::op::sum, {5, 5}},
                        {toy::op::output, {6}}},
                       {0, 0, 1, 1, 1, 0, 0, 0}, 2);
  EXPECT_EQ(report::plan_dot(p.view()), R"(digraph plan {
  graph [label="toy: 8 layers on 2 ranks\nbold: the messages of one frame", labelloc=t, newrank=true, nodesep=0.35, ranksep=0.4, fontname="sans-serif", fontsize=12];
  node [shape=box, style=filled, fillcolor=white, height=0.3, margin="0.1,0.05", fontname="sans-serif", fontsize=11];
  edge [arrowsize=0.7, fontname="sans-serif", fontsize=10];
  subgraph cluster_0 {
    graph [label="", style="filled,rounded", color="#0b4f8a", fillcolor="#e3eef8"];
    h0 [label="rank 0 · cpu\n192 MAC · weights 512 B\npeak memory 2048 B", shape=plaintext, style="", fontsize=12, fontcolor="#0b4f8a"];
    l0 [label="l0  Input\n2×32", style="filled,rounded"];
    l1 [label="l1  Scale\n2×32"];
    l5 [label="l5  Add\n2×32"];
    l6 [label="l6  Add\n2×32"];
    l7 [label="l7  Output\n2×32", style="filled,rounded"];
  }
  subgraph cluster_1 {
    graph [label="", style="filled,rounded", color="#8f3b00", fillcolor="#fbebdf"];
    h1 [label="rank 1 · cpu\n192 MAC · weights 768 B\npeak memory 1792 B", shape=plaintext, style="", fontsize=12, fontcolor="#8f3b00"];
    l2 [label="l2  Scale\n2×32"];
    l3 [label="l3  Scale\n2×32"];
    l4 [label="l4  Add\n2×32"];
    m0 [shape=point, width=0.07, height=0.07, color="#0b4f8a", fillcolor="#0b4f8a"];
  }
  l0 -> l1;
  l2 -> l4;
  l3 -> l4;
  l1 -> l5;
  l5 -> l6;
  l6 -> l7;
  l1 -> m0 [label="  tag 1 · 256 B", style=bold, color="#0b4f8a", fontcolor="#0b4f8a", dir=none];
  m0 -> l2;
  m0 -> l3;
  l4 -> l5 [label="  tag 1 · 256 B", style=bold, color="#8f3b00", fontcolor="#8f3b00"];
  h0 -> l0 [style=invis];
  h1 -> l2 [style=invis];
}
)");
  // The lengths are pixels: 14 for a line of text, 8 around it, 32 between rows.
  EXPECT_EQ(report::layered_svg(p.view()), R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="391.0" height="654.0" viewBox="0 0 391.0 654.0" font-family="sans-serif" text-anchor="middle">
<rect class="paper" x="0.0" y="0.0" width="391.0" height="654.0" fill="white"/>
<text class="title" font-size="12" fill="black"><tspan x="195.5" y="19.2">toy: 8 layers on 2 ranks</tspan><tspan x="195.5" y="33.2">bold: the messages of one frame</tspan></text>
<rect class="rank" x="8.0" y="44.0" width="177.0" height="602.0" rx="8" fill="#e3eef8" stroke="#0b4f8a"/>
<text class="heading" font-size="12" fill="#0b4f8a"><tspan x="96.5" y="63.2">rank 0 · cpu</tspan><tspan x="96.5" y="77.2">192 MAC · weights 512 B</tspan><tspan x="96.5" y="91.2">peak memory 2048 B</tspan></text>
<rect class="rank" x="201.0" y="44.0" width="182.0" height="602.0" rx="8" fill="#fbebdf" stroke="#8f3b00"/>
<text class="heading" font-size="12" fill="#8f3b00"><tspan x="292.0" y="63.2">rank 1 · cpu</tspan><tspan x="292.0" y="77.2">192 MAC · weights 768 B</tspan><tspan x="292.0" y="91.2">peak memory 1792 B</tspan></text>
<path class="line" d="M96.5,138.0V138.0C96.5,154.0 96.5,154.0 96.5,170.0V170.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M96.5,170.0l-4,-7h8z" fill="black"/>
<path class="message" d="M96.5,206.0V206.0C96.5,222.0 292.0,222.0 292.0,238.0V238.0" fill="none" stroke="#0b4f8a" stroke-width="2"/>
<path class="line" d="M96.5,206.0V206.0C96.5,222.0 96.5,222.0 96.5,238.0V245.0" fill="none" stroke="black" stroke-width="1"/>
<path class="message" d="M292.0,252.0V252.0C292.0,268.0 248.5,268.0 248.5,284.0V284.0" fill="none" stroke="#0b4f8a" stroke-width="2"/>
<path class="tip" d="M248.5,284.0l-4,-7h8z" fill="#0b4f8a"/>
<path class="message" d="M292.0,252.0V252.0C292.0,268.0 335.5,268.0 335.5,284.0V284.0" fill="none" stroke="#0b4f8a" stroke-width="2"/>
<path class="tip" d="M335.5,284.0l-4,-7h8z" fill="#0b4f8a"/>
<path class="line" d="M248.5,320.0V320.0C248.5,336.0 292.0,336.0 292.0,352.0V352.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M292.0,352.0l-4,-7h8z" fill="black"/>
<path class="line" d="M335.5,320.0V320.0C335.5,336.0 292.0,336.0 292.0,352.0V352.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M292.0,352.0l-4,-7h8z" fill="black"/>
<path class="message" d="M292.0,388.0V388.0C292.0,404.0 104.5,404.0 104.5,420.0V420.0" fill="none" stroke="#8f3b00" stroke-width="2"/>
<path class="message" d="M104.5,434.0V434.0C104.5,450.0 96.5,450.0 96.5,466.0V466.0" fill="none" stroke="#8f3b00" stroke-width="2"/>
<path class="tip" d="M96.5,466.0l-4,-7h8z" fill="#8f3b00"/>
<path class="line" d="M96.5,502.0V502.0C96.5,518.0 96.5,518.0 96.5,534.0V534.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M96.5,534.0l-4,-7h8z" fill="black"/>
<path class="line" d="M96.5,570.0V570.0C96.5,586.0 96.5,586.0 96.5,602.0V602.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M96.5,602.0l-4,-7h8z" fill="black"/>
<path class="line" d="M96.5,245.0V252.0C96.5,268.0 96.5,268.0 96.5,284.0V302.0" fill="none" stroke="black" stroke-width="1"/>
<path class="line" d="M96.5,302.0V320.0C96.5,336.0 96.5,336.0 96.5,352.0V370.0" fill="none" stroke="black" stroke-width="1"/>
<path class="line" d="M96.5,370.0V388.0C96.5,404.0 39.0,404.0 39.0,420.0V427.0" fill="none" stroke="black" stroke-width="1"/>
<path class="line" d="M39.0,427.0V434.0C39.0,450.0 96.5,450.0 96.5,466.0V466.0" fill="none" stroke="black" stroke-width="1"/>
<path class="tip" d="M96.5,466.0l-4,-7h8z" fill="black"/>
<rect class="layer" x="57.0" y="102.0" width="79.0" height="36.0" fill="white" stroke="black" rx="8"/>
<text class="layer" font-size="11" fill="black"><tspan x="96.5" y="116.8">l0  Input</tspan><tspan x="96.5" y="130.8">2×32</tspan></text>
<rect class="layer" x="57.0" y="170.0" width="79.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="96.5" y="184.8">l1  Scale</tspan><tspan x="96.5" y="198.8">2×32</tspan></text>
<text class="message" font-size="10" fill="#0b4f8a"><tspan x="292.0" y="248.5">tag 1 · 256 B</tspan></text>
<rect class="layer" x="209.0" y="284.0" width="79.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="248.5" y="298.9">l2  Scale</tspan><tspan x="248.5" y="312.9">2×32</tspan></text>
<rect class="layer" x="296.0" y="284.0" width="79.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="335.5" y="298.9">l3  Scale</tspan><tspan x="335.5" y="312.9">2×32</tspan></text>
<rect class="layer" x="259.5" y="352.0" width="65.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="292.0" y="366.9">l4  Add</tspan><tspan x="292.0" y="380.9">2×32</tspan></text>
<text class="message" font-size="10" fill="#8f3b00"><tspan x="104.5" y="430.5">tag 1 · 256 B</tspan></text>
<rect class="layer" x="64.0" y="466.0" width="65.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="96.5" y="480.9">l5  Add</tspan><tspan x="96.5" y="494.9">2×32</tspan></text>
<rect class="layer" x="64.0" y="534.0" width="65.0" height="36.0" fill="white" stroke="black"/>
<text class="layer" font-size="11" fill="black"><tspan x="96.5" y="548.9">l6  Add</tspan><tspan x="96.5" y="562.9">2×32</tspan></text>
<rect class="layer" x="53.5" y="602.0" width="86.0" height="36.0" fill="white" stroke="black" rx="8"/>
<text class="layer" font-size="11" fill="black"><tspan x="96.5" y="616.9">l7  Output</tspan><tspan x="96.5" y="630.9">2×32</tspan></text>
</svg>
)");
}

TEST(steps, a_small_plan) {
  // in → scale → packed → sum of both → out, the third on rank 1.
  const toy::program p(
      {{toy::op::input, {}}, {toy::op::scale, {0}}, {toy::op::packed, {1}}, {toy::op::sum, {1, 2}}, {toy::op::output, {3}}},
      {0, 0, 1, 0, 0}, 2);
  EXPECT_EQ(report::plan_steps(p.view()), R"(rank 0: arena 1280 B = 2 frames × 512 B + scratch 256 B
  segment  step  action   layers  from                            to
  1        1     enter    l0      source                          scratch+0
           2     compute  l1      l0 at scratch+0                 frame+256
           3     send     l1      frame+256                       rank 1, tag 1, 256 B
  2        4     receive  l2      rank 1, tag 1, 256 B            frame+0
           5     compute  l3      l1 at frame+256, l2 at frame+0  scratch+0
           6     leave    l4      scratch+0                       sink

  buffer  place      size   steps
  l0      scratch+0  256 B  1 … 2
  l2      frame+0    256 B  1 … 5
  l1      frame+256  256 B  2 … 6
  l3      scratch+0  256 B  5 … 6

rank 1: arena 1280 B = 2 frames × 512 B + scratch 256 B
  segment  step  action   layers  from                  to
  1        1     receive  l1      rank 0, tag 1, 256 B  frame+0
           2     compute  l2      l1 at frame+0         frame+256
           3     send     l2      frame+256             rank 0, tag 1, 256 B

  buffer             place      size   steps
  l1                 frame+0    256 B  1 … 2
  l2                 frame+256  256 B  2 … 3
  (kernel's memory)  scratch+0  256 B  2
)");
}

TEST(steps, of_every_plan) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const drawn d(seed, 80, 1 + static_cast<int>(seed) % 4, seed % 2);
    const auto text = report::plan_steps(d.program());
    std::map<std::string, int> actions;
    std::istringstream lines(text);
    int ranks = 0;
    for (std::string line; std::getline(lines, line);) {
      ranks += line.rfind("rank ", 0) == 0;
      for (const char* action : {"enter", "receive", "compute", "send", "leave"})
        if (line.find(std::string("  ") + action + " ") < 30) ++actions[action];
    }
    std::map<std::string, int> wanted;
    for (const auto& s : d.plan.steps) {
      const char* const names[] = {"receive", "enter", "compute", "leave", "send"};
      ++wanted[names[static_cast<int>(s.what)]];
    }
    EXPECT_EQ(ranks, d.plan.ranks.size());
    EXPECT_EQ(actions, wanted);
  }
}

TEST(steps, tell_the_layout_of_a_tensor) {
  EXPECT_EQ(report::detail::address_text({.where = schedule::space::frame, .layout = tensor::layout::blocked, .offset = 64}),
            "frame+64 blocked");
}
