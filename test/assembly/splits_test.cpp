// Mappings that split layers: the plan that the compiler makes is the one that --mapping makes at run time; what reports say
// of them.
#include <dice/dice.hpp>

#include "../convolutions.hpp"
#include "digits.hpp"

#include "dice/assembly/remap.hpp"
#include "dice/measure/measured.hpp"
#include "dice/report/draw.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/steps.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/other_mapping.hpp"
#include "dice/runtime/weights_of.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace dice;

template <class Map, class Net = digits::network> void same_as_text(std::string_view text) {
  constexpr auto& own = assembly::program_of<Net, Map>;
  const auto other = assembly::remap(own, text);
  const auto& p = other.it->program();
  EXPECT_EQ(runtime::plan_digest(p), runtime::plan_digest(own));
  EXPECT_EQ(runtime::packed_identity(p), runtime::packed_identity(own));
  for (const auto* has : {&own, &p}) {  // each keeps its mapping
    const auto kept = placement::write(has->mapping, Net::name, own.network_layers());
    EXPECT_EQ(runtime::plan_digest(assembly::remap(own, kept).it->program()), runtime::plan_digest(own)) << kept;
  }
  EXPECT_TRUE(std::equal(p.plan.steps.begin(), p.plan.steps.end(), own.plan.steps.begin(), own.plan.steps.end()));
  EXPECT_TRUE(
      std::equal(p.plan.operands.begin(), p.plan.operands.end(), own.plan.operands.begin(), own.plan.operands.end()));
  EXPECT_TRUE(std::equal(p.plan.buffers.begin(), p.plan.buffers.end(), own.plan.buffers.begin(), own.plan.buffers.end()));
  EXPECT_TRUE(std::equal(p.plan.ranks.begin(), p.plan.ranks.end(), own.plan.ranks.begin(), own.plan.ranks.end()));
  EXPECT_TRUE(std::equal(p.parts.begin(), p.parts.end(), own.parts.begin(), own.parts.end()));
  const auto items = runtime::weights_of(own);
  for (int rank = 0; rank < own.ranks(); ++rank) {
    std::int64_t bytes = 0;  // that the rank holds
    for (const auto& n : items[rank]) {
      bytes += n.packed_bytes;
      for (const auto& q : n.parameters) bytes += n.packed_bytes ? 0 : q.bytes();
    }
    EXPECT_EQ(bytes, own.plan.ranks[rank].weight_bytes) << rank;
  }
  ASSERT_EQ(p.kernels.size(), own.kernels.size());
  for (std::size_t g = 0; g < p.kernels.size(); ++g) {
    EXPECT_EQ(p.kernels[g].by.run, own.kernels[g].by.run) << g;
    EXPECT_EQ(p.kernels[g].what.how.variant, own.kernels[g].what.how.variant) << g;
    EXPECT_EQ(p.kernels[g].what.output, own.kernels[g].what.output) << g;
    EXPECT_EQ(p.parameters[g].size(), own.parameters[g].size()) << g;
  }
}

TEST(Splits, RowsAndChannels) {
  using shared = mapping<dev<0, cpu>, layers<digits::picture>, ranks<0>, dev<1, cpu>,
                         rows<range<digits::conv1, digits::pool2>, shares<1, 2>>, ranks<1, 0>,
                         output_channels<range<digits::conv3, digits::pool3>>, ranks<0>, layers<from<digits::flatten>>>;
  same_as_text<shared>(
      "mapping<dev<0, cpu>, layers<picture>, ranks<0>, dev<1, cpu>, rows<range<conv1, pool2>, shares<1, 2>>, ranks<1, 0>, "
      "output_channels<range<conv3, pool3>>, ranks<0>, layers<from<flatten>>>");
}

TEST(Splits, TilesAndInputChannels) {
  using shared = mapping<dev<0, cpu>, layers<digits::picture>, ranks<0>, dev<1, cpu>, dev<2, cpu>,
                         tiles<2, 2, range<digits::conv1, digits::pool3>, exchange_every<2>>, ranks<2, 0>,
                         input_channels<digits::fc1, digits::relu4>, in_flight<3>, ranks<0>, layers<digits::flatten>,
                         ranks<1>, layers<from<digits::fc2>>>;
  same_as_text<shared>(
      "mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, dev<2>, tiles<2, 2, range<conv1, pool3>, exchange_every<2>>, "
      "ranks<2, "
      "0>, input_channels<fc1, relu4>, in_flight<3>, ranks<0>, layers<flatten>, ranks<1>, layers<from<fc2>>>");
}

/// If one of the devices that share a layer computes directly, all do; where the parts begin depends on it.
TEST(Splits, DirectConvolutions) {
  using namespace convolutions;
  using shared = mapping<dev<0>, layers<image>, ranks<0>, dev<1, cpu, direct_convolutions>, rows<narrow, shares<1, 2>>,
                         ranks<1, 0>, output_channels<wide>, ranks<0>, layers<features>>;
  same_as_text<shared, convolutions::network>(
      "mapping<dev<0>, layers<image>, ranks<0>, dev<1, cpu, direct_convolutions>, rows<narrow, shares<1, 2>>, "
      "ranks<1, 0>, output_channels<wide>, ranks<0>, layers<features>>");
  constexpr auto& p = assembly::program_of<convolutions::network, shared>;
  EXPECT_EQ(report::unit_text(p, 1), "cpu, direct_convolutions");
  EXPECT_NE(report::plan_table(p).find("rows 0-8 "), std::string::npos) << report::plan_table(p);
}

/// A rank with several tiles of a layer has its weights once.
TEST(Splits, TilesShareTheirWeights) {
  using tiled = mapping<dev<0, cpu>, layers<digits::picture>, ranks<0>, dev<1, cpu>,
                        tiles<2, 2, range<digits::conv1, digits::pool3>>, ranks<0>, layers<from<digits::flatten>>>;
  using whole = mapping<dev<0, cpu>, layers<all>>;
  constexpr auto& p = schedule::plan_of<digits::network, tiled>;
  // Of weights that are not packed, a plan counts those of each tile.
#ifdef DICE_WITH_OPENMP
  EXPECT_LE(p.ranks[0].weight_bytes, (schedule::plan_of<digits::network, whole>.ranks[0].weight_bytes));
#endif
  EXPECT_EQ(std::count_if(p.groups.begin(), p.groups.end(),
                          [](const auto& g) {
                            return schedule::parts_of<digits::network, tiled>.parts[g.anchor].layer == digits::conv2::id &&
                                   schedule::parts_of<digits::network, tiled>.is_own(g.anchor);
                          }),
            4);
  const auto packed = [](const runtime::program& of) {
    const auto items = runtime::weights_of(of)[0];
    return std::count_if(items.begin(), items.end(), [](const auto& i) { return i.packed_bytes > 0; });
  };
  EXPECT_EQ(packed(assembly::program_of<digits::network, tiled>), packed(assembly::program_of<digits::network, whole>));
  same_as_text<tiled>(
      "mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, tiles<2, 2, range<conv1, pool3>>, ranks<0>, "
      "layers<from<flatten>>>");
}

/// A rank that cannot hold all weights of a layer computes some of its channels.
TEST(Splits, MemoryLimitsCountPartsOnly) {
  using whole = mapping<dev<0, cpu>, layers<all>>;
  constexpr auto all = schedule::plan_of<digits::network, whole>.ranks[0].weight_bytes;
  using shared = mapping<dev<0, cpu, memory<all>>, layers<digits::picture>, ranks<0>, dev<1, cpu, memory<all>>,
                         output_channels<range<digits::conv2, digits::relu4>>, ranks<0>,
                         layers<digits::conv1, digits::relu1, from<digits::fc2>>>;
  constexpr auto& ranks = schedule::plan_of<digits::network, shared>.ranks;
  static_assert(ranks[0].weight_bytes < all * 6 / 10 && ranks[1].weight_bytes < all * 6 / 10);
  static_assert(ranks[0].weight_bytes + ranks[1].weight_bytes >= all);
  EXPECT_LE(ranks[0].peak_bytes, all);
}

runtime::owned_mapping under(std::string_view text) {
  return assembly::remap(assembly::program_of<digits::network, mapping<dev<0, cpu>, layers<all>>>, text);
}

#ifdef DICE_WITH_OPENMP  // the reference has a single algorithm
/// Only layers of the rank that has too little memory get smaller algorithms, whatever others would save.
TEST(Splits, LimitsOfARankDoNotSlowLayersOfOthers) {
  const auto with = [](const std::string& limit) {
    return assembly::remap(
        assembly::program_of<convolutions::network, mapping<dev<0, cpu>, layers<all>>>,
        "mapping<dev<0, cpu" + limit + ">, layers<image>, ranks<0>, dev<1>, rows<narrow>, ranks<1>, layers<from<wide>>>");
  };
  const auto variant = [](const runtime::owned_mapping& m, std::string_view layer) {
    const auto& p = m.it->program();
    for (std::size_t g = 0; g < p.plan.groups.size(); ++g)
      if (p.layers.layers[p.plan.groups[g].anchor].name == layer) return p.kernels[g].what.how.variant;
    return -1;
  };
  const auto fast = with("");
  const auto limited = with(", memory<" + std::to_string(fast.it->program().plan.ranks[0].peak_bytes - 1) + ">");
  EXPECT_GT(variant(fast, "narrow"), 0);
  EXPECT_GT(variant(fast, "wide"), 0);
  EXPECT_EQ(variant(limited, "narrow"), 0);
  EXPECT_EQ(variant(limited, "wide"), variant(fast, "wide"));
}
#endif

int count(std::string_view text, std::string_view word) {
  int out = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++out;
  return out;
}

/// --plan=json has the whole mapping: its text, and entries from which a script makes other mappings.
TEST(Splits, TheMappingIsKeptWithItsLimits) {
  for (
      const std::string text :
      {"dice::mapping<\n    dice::dev<0, dice::cores<0, 1>, dice::memory<1073741824>, dice::on<\"a\">>, "
       "dice::layers<dice::range<digits::picture, digits::pool2>>,\n    dice::dev<1, dice::cpu, dice::direct_convolutions>, "
       "dice::layers<dice::range<digits::conv3, digits::scores>>,\n    dice::in_flight<3>>",
       "dice::split<digits::network, dice::points<4>,\n    dice::dev<1, dice::cpu>,\n    dice::dev<0, dice::threads<2>>>"}) {
    const auto mapped = under(text);
    EXPECT_EQ(placement::write(mapped.it->program().mapping, "digits", graph::view_of<digits::network>), text);
    const auto json = nlohmann::json::parse(report::plan_json(mapped.it->program()).json())["mapping"];
    EXPECT_EQ(json["text"], text);
    const auto& hosts = mapped.it->program().hosts;  // of which ranks that start elsewhere are warned
    EXPECT_EQ(std::vector<std::string>(hosts.begin(), hosts.end()),
              (std::vector<std::string>{text.find("on<") == text.npos ? "" : "a", ""}));
    const std::string begin = json["begin"];
    auto joined = begin;
    for (const auto& e : json["entries"]) joined += (joined == begin ? "" : ", ") + e["text"].get<std::string>();
    const auto again = under(joined + ">");
    EXPECT_EQ(runtime::plan_digest(again.it->program()), runtime::plan_digest(mapped.it->program()));
    if (const auto& first = json["entries"][0]; first["rank"] == 0) {
      EXPECT_EQ(first["unit"], "dice::cores<0, 1>");
      EXPECT_EQ(first["limits"], (std::vector<std::string>{"dice::memory<1073741824>", "dice::on<\"a\">"}));
    }
  }
}

/// Ranks that do not agree which of them computes which frame would wait for each other.
TEST(Splits, WhoseTurnItIsBelongsToTheDigest) {
  const auto digest = [](const std::string& options) {
    return runtime::plan_digest(under("mapping<dev<0>, layers<picture, from<flatten>>, dev<1>, dev<2>, "
                                      "replicas<range<conv1, pool3>" +
                                      options + ">, in_flight<4>>")
                                    .it->program());
  };
  EXPECT_EQ(digest(""), digest(", shares<1, 1>"));
  EXPECT_NE(digest(""), digest(", shares<2, 1>"));
  EXPECT_NE(digest(", shares<1, 2>"), digest(", shares<2, 1>"));
  EXPECT_NE(digest(""), digest(", first_free"));
}

/// Replicas compute the same, on whatever unit they are.
TEST(Splits, ReplicasAreMeasuredOnce) {
  const auto mapped = under(
      "mapping<dev<0>, layers<picture>, dev<1>, dev<2>, replicas<range<conv1, pool3>>, ranks<0>, layers<from<flatten>>>");
  const auto& p = mapped.it->program();
  measure::measurements all;
  for (int unit = 0; unit < 2; ++unit) {  // the second does not measure rank 1
    all.units.push_back({"pc", unit == 0 ? "cpu" : "gpu", "", 1, {}});
    for (const auto& g : p.plan.groups) all.units.back().ms.push_back(unit == 1 && g.rank == 1 ? -1 : 2);
  }
  const auto json = measure::measured_json(p, all, "");
  EXPECT_EQ(count(json, "\"layer\": \"conv1\", \"ms\": 2}"), 2) << json;
  EXPECT_EQ(count(json, "missing"), 0) << json;
  const auto table = measure::measured_table(p, all);
  EXPECT_EQ(count(table, "conv1+relu1"), 1) << table;
  // The reference fuses fewer layers.
#ifdef DICE_WITH_OPENMP
  EXPECT_EQ(count(table, " 12.000"), 2) << table;  // three of the convolutions' groups, three behind them
#endif
}

/// A layer's time is that of its parts, without what cuts them out and puts them together.
TEST(Splits, PiecesAreNoTimeOfTheirLayers) {
  const auto mapped = under(
      "mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, rows<range<conv1, pool3>>, ranks<0>, layers<from<flatten>>>");
  const auto& p = mapped.it->program();
  const std::vector<double> ms(p.plan.groups.size(), 1);
  std::map<std::string_view, int> own;
  int pieces = 0;
  for (const auto& g : p.plan.groups) {
    if (p.is_own(g.anchor)) ++own[p.network_layers().layers[p.whole(g.anchor)].name];
    else ++pieces;
  }
  EXPECT_GT(pieces, 0);
  const auto times = measure::detail::layer_times(p, ms);
  EXPECT_EQ(times.size(), own.size());
  for (const auto& [layer, time] : times) EXPECT_EQ(time, own[layer]) << layer;
}

/// Drawings show what is computed, not how it is cut out and put together, and a line for each two nodes.
TEST(Splits, DrawingsStayLegible) {
  const auto tiled = under(
      "mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, dev<2>, dev<3>, dev<4>, dev<5>, dev<6>, dev<7>, tiles<4, 4, "
      "range<conv1, pool2>>, ranks<0>, layers<from<conv3>>>");
  const auto dot = report::plan_dot(tiled.it->program());
  EXPECT_EQ(count(dot, "conv1 (2 parts)  Conv\\n+ relu1 (2 parts)  Relu\""), 8) << dot;
  EXPECT_EQ(count(dot, "  Slice") + count(dot, "  Concat"), 0) << dot;
  EXPECT_GT(count(dot, " messages · "), 0) << dot;
  const auto svg = report::layered_svg(tiled.it->program());
  EXPECT_LT(svg.size(), 60'000u);
  EXPECT_LT(std::stod(svg.substr(svg.find(" width=\"") + 8)), 8000);

  const auto replicas =
      under("mapping<dev<0>, layers<picture, from<flatten>>, dev<1>, dev<2>, replicas<range<conv1, pool3>>>");
  const auto picks = report::plan_dot(replicas.it->program());
  EXPECT_EQ(count(picks, "\"pool3  pick\\n1×64×2×2\""), 1) << picks;
  EXPECT_EQ(count(picks, " B, 1 of 2 frames"), 4) << picks;
}

#ifdef DICE_WITH_OPENMP  // whose Gemm computes the activation behind it
/// A node for what a rank computes of the same layers: what it cuts out belongs to the node it is cut out of, what it puts
/// together to the first node that reads it; partial sums and their addends are two nodes.
TEST(Splits, DrawingsJoinParts) {
  const auto mapped = under(
      "mapping<dev<0>, layers<picture, from<flatten>>, ranks<0>, dev<1>, tiles<2, 1, range<conv1, pool2>>, ranks<0>, "
      "dev<2>, input_channels<conv3>, ranks<0>, layers<relu3, pool3>>");
  std::istringstream lines(report::plan_dot(mapped.it->program()));
  std::string shown;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    l") || line.starts_with("  l"))
      shown += line.substr(line.find('l'), line.find(", style") - line.find('l')) + "\n";
  EXPECT_EQ(shown, R"(l0 [label="picture  Input\n1×1×8×8"
l5 [label="conv1 (rows 0-3)  Conv\n+ relu1 (rows 0-3)  Relu\n1×16×4×8"];
l15 [label="conv2 (rows 0-3)  Conv\n+ relu2 (rows 0-3)  Relu\n+ pool2 (rows 0-1)  MaxPool\n1×32×2×4"];
l22 [label="conv3 (input channels 0-15)  Conv\n1×64×4×4"];
l27 [label="conv3 (channels 0-31)  Sum\n1×32×4×4"];
l32 [label="relu3  Relu\n1×64×4×4"];
l33 [label="pool3  MaxPool\n1×64×2×2"];
l34 [label="flatten  Flatten\n1×256"];
l36 [label="fc1  Gemm\n+ relu4  Relu\n1×64"];
l37 [label="fc2  Gemm\n1×10"];
l38 [label="softmax  Softmax\n1×10"];
l39 [label="scores  Output\n1×10"
l6 [label="conv1 (rows 4-7)  Conv\n+ relu1 (rows 4-7)  Relu\n1×16×4×8"];
l16 [label="conv2 (rows 4-7)  Conv\n+ relu2 (rows 4-7)  Relu\n+ pool2 (rows 2-3)  MaxPool\n1×32×2×4"];
l24 [label="conv3 (input channels 16-31)  Conv\n1×64×4×4"];
l30 [label="conv3 (channels 32-63)  Sum\n1×32×4×4"];
l0 -> l5;
l5 -> l15;
l6 -> l16;
l15 -> l22;
l22 -> l27;
l24 -> l30;
l27 -> l32;
l32 -> l33;
l33 -> l34;
l34 -> l36;
l36 -> l37;
l37 -> l38;
l38 -> l39;
l0 -> l6 [label="  tag 1 · 160 B"
l5 -> l16 [label="  tag 2 · 512 B"
l6 -> l15 [label="  tag 1 · 512 B"
l15 -> l24 [label="  tag 1 · 512 B"
l16 -> l24 [label="  tag 1 · 512 B"
l16 -> l22 [label="  tag 2 · 512 B"
l24 -> l27 [label="  tag 1 · 2048 B"
l22 -> l30 [label="  tag 2 · 2048 B"
l30 -> l32 [label="  tag 2 · 2048 B"
)");
}
#endif

/// A convolution reads all channels, however its operand is divided; a pooling only its own.
TEST(Splits, ConvolutionsKeepTheirSharesOfChannels) {
  const auto shared = under(
      "mapping<dev<0>, layers<to<relu1>>, ranks<0>, dev<1>, output_channels<range<conv2, pool3>, shares<3, 1>>, ranks<0>, "
      "layers<from<flatten>>>");
  const auto text = report::plan_table(shared.it->program());
  EXPECT_NE(text.find("\nParts:\n"
                      "layer  rank 0         rank 1\n"
                      "conv2  channels 0-15  channels 16-31\n"
                      "relu2  channels 0-15  channels 16-31\n"
                      "pool2  channels 0-15  channels 16-31\n"
                      "conv3  channels 0-47  channels 48-63\n"
                      "relu3  channels 0-47  channels 48-63\n"
                      "pool3  channels 0-47  channels 48-63\n\n"),
            text.npos)
      << text;
  EXPECT_EQ(report::plan_table(under("mapping<dev<0>, layers<all>>").it->program()).find("Parts:"), text.npos);
}

TEST(Splits, StepsOfReplicasSayForWhichFrames) {
  const auto turns =
      under("mapping<dev<0>, layers<picture, from<flatten>>, dev<1>, dev<2>, replicas<range<conv1, pool3>, shares<2, 1>>>");
  const auto text = report::plan_steps(turns.it->program());
  EXPECT_NE(text.find("rank 1, tag 1, 256 B, 2 of 3 frames"), text.npos) << text;
  EXPECT_NE(text.find("conv1 + relu1, 1 of 3 frames"), text.npos) << text;
  const auto free =
      under("mapping<dev<0>, layers<picture, from<flatten>>, dev<1>, dev<2>, replicas<range<conv1, pool3>, first_free>>");
  EXPECT_NE(report::plan_steps(free.it->program()).find("rank 2, tag 1, 256 B, when free"), text.npos);
}

}  // namespace
