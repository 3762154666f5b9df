// What a program says of its layers and ranks, and of what a rank needs of the weights.
#include "dice/runtime/program.hpp"

#include "toy.hpp"

#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/tasks.hpp"
#include "dice/runtime/weights_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
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

/// A plan of rank 0, group by group, whose layers are parts of layers of a network.
struct groups_of_layers {
  std::vector<schedule::group> groups;
  std::vector<parts::part> parts;
  std::vector<kernels::entry> entries;
  std::vector<meta::view<graph::parameter>> parameters;

  groups_of_layers& add(int layer, meta::view<graph::parameter> of, std::int64_t packed_bytes, int variant = 0,
                        decltype(kernels::functions::pack) pack = toy::pack) {
    groups.push_back({.anchor = static_cast<int>(parts.size())});
    parts.push_back({.what = parts::part::kind::compute, .layer = layer});
    entries.push_back({.by = {.pack = pack}, .what = {.how = {.packed_bytes = packed_bytes, .variant = variant}}});
    parameters.push_back(of);
    return *this;
  }
  runtime::program program() const {
    runtime::program out{};
    out.parts = parts;
    out.plan.groups = groups;
    out.kernels = entries;
    out.parameters = parameters;
    return out;
  }
};
std::vector<int> items(const runtime::needed_weights& w, std::size_t plan) {
  const auto of = w.of_plan(plan);
  return {of.begin(), of.end()};
}

TEST(needed_weights, are_shared_if_they_are_the_same_bytes) {
  const graph::parameter a[]{{0, {16}}}, b[]{{64, {16}}};
  constexpr auto other = [](const kernels::task&, kernels::parameter_list, std::byte*) {};
  groups_of_layers first, second;
  // Parts of layer 0 that are packed alike, and otherwise; the same of another layer; parts that are read in place.
  first.add(0, a, 64).add(0, a, 64).add(0, a, 64, 1).add(0, b, 64).add(0, b, 128).add(0, b, 128, 0, other).add(1, a, 64);
  first.add(2, a, 0, 0, nullptr).add(3, a, 0, 0, nullptr).add(3, a, 0, 0, nullptr);
  auto p = first.program();
  runtime::needed_weights w(p, 0);
  EXPECT_EQ(items(w, 0), (std::vector<int>{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  // Another plan has all of them, however they follow each other, and one more.
  second.add(2, a, 0, 7, nullptr).add(2, b, 0, 0, nullptr).add(0, b, 128, 0, other).add(0, a, 64, 1).add(1, a, 64);
  second.add(0, b, 64).add(0, a, 64).add(0, a, 64);
  p = second.program();
  w.add(p, 0);
  EXPECT_EQ(items(w, 1), (std::vector<int>{6, 9, 4, 1, 5, 2, 0, 0}));
  ASSERT_EQ(w.items().size(), 10u);
  EXPECT_EQ(w.items()[3].packed_bytes, 128);
  EXPECT_EQ(w.items()[9].parameters[0].offset, 64);
}

// What the plan adds to a kernel's task, also for the first layers.
TEST(add_plan, completes_the_anchors_tasks) {
  std::vector<graph::layer_info> layers(3);
  layers[0].fuses.function = {graph::activation::kind::relu};
  layers[1].fuses.function = {graph::activation::kind::sigmoid};
  const std::vector<schedule::group> groups{{.anchor = 2}, {.anchor = 2, .residual = 0, .activation = 0, .pool = 0}};
  using schedule::action;
  const std::vector<schedule::place> operands{{.pitch = 64}, {.pitch = 128}, {.pitch = 192}};
  const schedule::place blocked{.layout = tensor::layout::blocked};
  const std::vector<schedule::step> steps{
      {.what = action::compute, .group = 1, .first_operand = 1, .operands = 2, .output = blocked},
      {.what = action::compute, .group = 0, .first_operand = 0, .operands = 1, .output = {.pitch = 256}},
      {.what = action::convert, .group = 0, .first_operand = 2, .operands = 1}};
  schedule::plan_view plan;
  plan.groups = groups;
  plan.steps = steps;
  plan.operands = operands;
  const auto stored = runtime::storage_of<3>(operands);
  std::vector<kernels::entry> all(2);
  runtime::add_plan(all, stored, plan, {layers, {}});
  EXPECT_FALSE(all[0].what.residual || all[0].what.pools_2x2);
  EXPECT_EQ(all[0].what.activation, graph::activation{});
  ASSERT_EQ(all[0].what.stored.size(), 1u);
  EXPECT_EQ(all[0].what.stored[0].pitch, 64);
  EXPECT_EQ(all[0].what.output.pitch, 256);
  EXPECT_TRUE(all[1].what.residual && all[1].what.pools_2x2);
  EXPECT_EQ(all[1].what.activation, layers[0].fuses.function);
  ASSERT_EQ(all[1].what.stored.size(), 2u);
  EXPECT_EQ(all[1].what.stored[0].pitch, 128);
  EXPECT_EQ(all[1].what.stored[1].pitch, 192);
  EXPECT_EQ(all[1].what.output.layout, tensor::layout::blocked);
}

}  // namespace
