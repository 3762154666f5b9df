// What makes ranks refuse one another, and a program refuse packed weights: all that they must have in common.
#include "dice/runtime/digest.hpp"

#include "toy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace dice;

/// Copies of what a program refers to, for tests that change it.
struct parts_of_program {
  runtime::program p;
  std::vector<graph::layer_info> layers{p.layers.layers.begin(), p.layers.layers.end()};
  std::vector<graph::edge> edges{p.layers.edges.begin(), p.layers.edges.end()};
  std::vector<int> owner{p.plan.owner.begin(), p.plan.owner.end()};
  std::vector<schedule::message> messages{p.plan.messages.begin(), p.plan.messages.end()};
  std::vector<schedule::rank_program> ranks{p.plan.ranks.begin(), p.plan.ranks.end()};
  std::vector<schedule::group> groups{p.plan.groups.begin(), p.plan.groups.end()};
  std::vector<kernels::entry> kernels{p.kernels.begin(), p.kernels.end()};
  std::vector<parts::replica_set> replicas{{0, 2, 1}};
  std::vector<parts::replica> members{{0, 3}, {1, 4}};
  std::array<graph::parameter, 2> parameters{{{64, {5, 6}}, {256, {7}}}};
  std::vector<meta::view<graph::parameter>> lists;

  explicit parts_of_program(const runtime::program& from) : p(from), lists(p.plan.groups.size(), parameters) {}
  const runtime::program& program() {
    p.layers = {layers, edges};
    p.plan.owner = owner;
    p.plan.messages = messages;
    p.plan.ranks = ranks;
    p.plan.groups = groups;
    p.plan.replicas = replicas;
    p.plan.members = members;
    p.kernels = kernels;
    p.parameters = lists;
    return p;
  }
};
using change = std::function<void(parts_of_program&)>;

/// What `of` returns for the toy program after each of the changes, by their names.
std::map<std::string, std::string> after(const std::map<std::string, change>& changes,
                                         std::string (*of)(const runtime::program&)) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  std::map<std::string, std::string> out;
  for (const auto& [name, f] : changes) {
    parts_of_program parts(toy.view());
    f(parts);
    out[name] = of(parts.program());
  }
  return out;
}
void expect_all_differ(const std::map<std::string, std::string>& found) {
  std::map<std::string, std::string> seen;
  for (const auto& [name, text] : found) {
    const auto [other, is_new] = seen.emplace(text, name);
    EXPECT_TRUE(is_new) << name << " is like " << other->second;
  }
}

}  // namespace

// Computed by another program.
TEST(fingerprint, is_fnv_1a) {
  runtime::fingerprint f;
  EXPECT_EQ(f.text(), "cbf29ce484222325");
  f.add(std::string_view("d\xef"));
  EXPECT_EQ(f.text(), "9c568ed328a1e1a2");
  f.add(std::int64_t{-2});
  EXPECT_EQ(f.text(), "40ecaab6baf6f47b");
}

TEST(plan_digest, tells_apart_what_cannot_work_together) {
  const std::map<std::string, change> changes{
      {"nothing", [](auto&) {}},
      {"name", [](auto& x) { x.p.network = "tog"; }},
      {"operator", [](auto& x) { x.layers[3].op = "Other"; }},
      {"shape", [](auto& x) { x.layers[3].output.dim[1] = 33; }},
      {"rank of a shape", [](auto& x) { x.layers[3].output.rank = 3; }},
      {"numbers", [](auto& x) { x.layers[9].number = tensor::number::uint8; }},
      {"reader", [](auto& x) { ++x.edges[4].to; }},
      {"what it reads", [](auto& x) { --x.edges[4].from; }},
      {"in flight", [](auto& x) { ++x.p.plan.in_flight; }},
      {"owner", [](auto& x) { x.owner[4] = 1; }},
      {"sender", [](auto& x) { x.messages[0].from = 2; }},
      {"receiver", [](auto& x) { x.messages[0].to = 3; }},
      {"tag", [](auto& x) { x.messages[0].tag = 4; }},
      {"tensor", [](auto& x) { x.messages[0].layer = 7; }},
      {"bytes", [](auto& x) { x.messages[0].bytes *= 2; }},
      {"layout", [](auto& x) { x.messages[0].at_sender.layout = tensor::layout::blocked; }},
      {"slots", [](auto& x) { ++x.ranks[1].slots; }},
      {"segments", [](auto& x) { ++x.ranks[1].last_segment; }},
      {"first member", [](auto& x) { x.replicas[0].first = 1; }},
      {"members", [](auto& x) { x.replicas[0].members = 1; }},
      {"who decides", [](auto& x) { x.replicas[0].decides = 0; }},
      {"member", [](auto& x) { x.members[1].rank = 7; }},
      {"share", [](auto& x) { x.members[1].share = 7; }},
  };
  expect_all_differ(after(changes, runtime::plan_digest));
  // Numbers of layers' segments count from the rank's first.
  const auto same =
      after({{"", [](auto&) {}}, {"later", [](auto& x) { ++x.ranks[1].first_segment, ++x.ranks[1].last_segment; }}},
            runtime::plan_digest);
  EXPECT_EQ(same.at(""), same.at("later"));
}

TEST(packed_identity, tells_apart_how_weights_are_packed) {
  const std::map<std::string, change> changes{
      {"nothing", [](auto&) {}},
      {"plan", [](auto& x) { ++x.p.plan.in_flight; }},
      {"anchor", [](auto& x) { x.groups[1].anchor = 9; }},
      {"rank", [](auto& x) { x.groups[1].rank = 9; }},
      {"variant of the first", [](auto& x) { x.kernels.front().what.how.variant = 9; }},
      {"variant of the last", [](auto& x) { x.kernels.back().what.how.variant = 9; }},
      {"variant", [](auto& x) { x.kernels[1].what.how.variant = 9; }},
      {"bytes", [](auto& x) { x.kernels[1].what.how.packed_bytes += 64; }},
      {"offset", [](auto& x) { x.parameters[1].offset = 320; }},
      {"rank of a shape", [](auto& x) { x.parameters[1].extents.rank = 2; }},
      {"shape", [](auto& x) { x.parameters[0].extents.dim[1] = 7; }},
  };
  expect_all_differ(
      after(changes, [](const runtime::program& p) { return runtime::packed_identity(p).lines.at(3).second; }));
  toy::program toy(toy::diamond(), std::vector<int>(10), 4);
  toy.pinned = "abc";
  const auto found = runtime::packed_identity(toy.view());
  ASSERT_EQ(found.lines.size(), 4u);
  EXPECT_EQ(found.lines[0], (std::pair<std::string, std::string>("dice", "1.2.3")));
  EXPECT_EQ(found.lines[1], (std::pair<std::string, std::string>("form", std::to_string(algorithm::packed_form))));
  EXPECT_EQ(found.lines[2], (std::pair<std::string, std::string>("structure", toy.structure)));
  EXPECT_EQ(found.lines[3].first, "plan");
  EXPECT_EQ(found.pinned, "abc");
}
