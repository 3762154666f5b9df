// What a program says of its layers and ranks, and of what a rank needs of the weights.
#include "dice/runtime/program.hpp"

#include "toy.hpp"

#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/weights_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace dice;

TEST(program, knows_whose_parts_its_layers_are) {
  using kind = parts::part::kind;
  const parts::part parts[]{{kind::whole, 0}, {kind::compute, 1}, {kind::partial, 1}, {kind::join, 1},
                            {kind::pick, 3},  {kind::whole, 3},   {kind::whole, 2}};
  std::vector<graph::layer_info> layers(7), whole(4);
  runtime::program p{};
  p.layers = {whole, {}};
  EXPECT_EQ(p.planned(3), 3);
  EXPECT_EQ(p.whole(3), 3);
  EXPECT_TRUE(p.is_own(3));
  EXPECT_EQ(p.network_layers().size(), 4);
  p.layers = {layers, {}};
  p.parts = parts;
  p.whole_layers = {whole, {}};
  EXPECT_EQ(p.network_layers().size(), 4);
  const std::vector<int> of{0, 1, 1, 1, 3, 3, 2}, own{1, 1, 1, 0, 0, 1, 1};
  for (int l = 0; l < 7; ++l) {
    EXPECT_EQ(p.whole(l), of[l]);
    EXPECT_EQ(p.is_own(l), own[l] == 1) << l;
  }
  EXPECT_EQ(p.planned(0), 0);
  EXPECT_EQ(p.planned(2), 6);
  EXPECT_EQ(p.planned(3), 5) << "not what picks it";
}

TEST(program, knows_which_ranks_have_accelerators) {
  using platform::unit;
  const std::array<unit, 2> units{{{}, {unit::kind::gpu}}};
  runtime::program p{};
  EXPECT_FALSE(p.has_accelerators());
  EXPECT_EQ(p.opener(0), nullptr);
  p.units = units;
  EXPECT_FALSE(p.has_accelerators()) << "built without its backend";
  const kernels::opener opens = [](const unit&) { return kernels::opened_accelerator{}; };
  const kernels::converter converts = [](const kernels::conversion&, const void*, void*) {};
  p.open[algorithm::backend::cudnn] = opens;
  p.convert[algorithm::backend_of(units[0])] = converts;
  EXPECT_TRUE(p.has_accelerators());
  EXPECT_EQ(p.opener(0), nullptr);
  EXPECT_EQ(p.opener(1), opens);
  EXPECT_EQ(p.opener(2), nullptr);
  EXPECT_EQ(p.converter(0), converts);
  EXPECT_EQ(p.converter(1), nullptr);
  EXPECT_EQ(p.converter(2), nullptr);
  p.units = std::span(units).first(1);
  EXPECT_FALSE(p.has_accelerators());
  EXPECT_TRUE(p.has(1) && p.has_all());
  const bool here[]{true, false, true};
  p.here = here;
  EXPECT_TRUE(p.has(0) && !p.has(1) && p.has(2) && !p.has_all());
  p.here = std::span(here).first(1);
  EXPECT_TRUE(p.has_all());
}

TEST(needed_weights, are_those_of_a_rank) {
  const toy::program toy(toy::diamond(), {0, 1, 0, 1, 0, 0, 0, 1, 0, 0}, 4);
  const auto p = toy.view();
  const std::vector<std::vector<std::string>> names{{"/node/2", "/node/4", "/node/5", "/node/6", "/node/8"},
                                                    {"/node/1", "/node/3", "/node/7"}};
  const auto all = runtime::weights_of(p);
  ASSERT_EQ(all.size(), 2u);
  for (int r = 0; r < 2; ++r) {
    const runtime::needed_weights needed(p, r);
    const auto name = runtime::item_names(p, r);
    ASSERT_EQ(needed.items().size(), names[r].size());
    ASSERT_EQ(all[r].size(), names[r].size());
    for (std::size_t i = 0; i < names[r].size(); ++i) {
      EXPECT_EQ(name(i), names[r][i]);
      const bool packs = names[r][i] == "/node/2" || names[r][i] == "/node/5";
      EXPECT_EQ(all[r][i].packed_bytes, packs ? 4 * toy::elements : 0);
      EXPECT_EQ(all[r][i].pack != nullptr, packs);
    }
    for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
      const int i = needed.of_plan(0)[g];
      EXPECT_EQ(i >= 0, p.plan.groups[g].rank == r);
      if (i >= 0) {
        EXPECT_EQ(p.layers.layers[p.plan.groups[g].anchor].onnx_name, names[r][static_cast<std::size_t>(i)]);
      }
    }
  }
}

}  // namespace
