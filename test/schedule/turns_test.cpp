// Each condition of the proof that steps run for the right frames: what is right is damaged so that only this one refuses
// it.
#include "dice/schedule/proofs/turns.hpp"
#include "random_network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace {

using namespace dice;

/// Layers of all frames and of replicas by hand, with what turns_match looks at. Sets 0 and 1 are those of ranks 0 and 1,
/// set 2 has one member.
struct turns_sample {
  test::network net;
  std::vector<parts::part> parts{10};
  std::vector<int> owner{0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
  // Behind the last set and its member there is another one, which is not theirs; before the first message there is one,
  // too.
  std::vector<parts::replica_set> sets{{0, 2}, {2, 2}, {4, 1}, {2, 2}};
  std::vector<parts::replica> members{{0}, {1}, {0}, {1}, {0}, {1}};
  std::vector<schedule::message> messages{{.from = 0, .to = 1, .layer = 1, .read = {0, 1}},
                                          {.from = 0, .to = 1, .layer = 1, .read = {0, 1}},
                                          {.from = 1, .to = 0, .layer = 3, .made = {0, 1}}};
  std::vector<schedule::group> groups{{.anchor = 2}, {.anchor = 7}};
  std::vector<schedule::rank_program> ranks{2};

  turns_sample() {
    const tensor::shape s{1, 4, 4, 4};
    net.add("Input", s, {}).is_input = true;  // which nobody reads
    net.add("Input", s, {}).is_input = true;
    net.add("Conv", s, {1});  // replicas
    net.add("Conv", s, {1});
    net.add("Identity", s, {2, 3}).view = 0;
    net.add("Conv", s, {4});
    net.add_output(5);
    net.add("Constant", s, {});
    net.add("Conv", s, {});
    net.add("Conv", s, {8}).view = 0;
    parts[2].when = {0, 0};
    parts[3].when = {0, 1};
    parts[4].what = parts::part::kind::pick;
    parts[7].when = {1, 1};
    parts[8].when = parts[9].when = {2, 0};
  }
  bool match() const {
    schedule::plan_view p;
    p.ranks = ranks;
    p.groups = groups;
    p.owner = owner;
    p.members = members;
    p.replicas = {sets.data(), 3};
    p.messages = {messages.data() + 1, messages.size() - 1};
    return schedule::turns_match(p, {.net = net.view(), .parts = parts});
  }
};

TEST(Proofs, TurnsMatchRefuses) {
  using parts::turn;
  EXPECT_TRUE(turns_sample().match());
  const std::pair<const char*, std::function<void(turns_sample&)>> table[]{
      {"a message that is not made when its tensor is",
       [](auto& s) {
         s.messages.push_back({.from = 0, .to = 0, .layer = 1, .made = {0, 1}});
       }},
      {"an input for some frames",
       [](auto& s) {
         s.parts[0].when = {0, 0};
       }},
      {"an output for some frames",
       [](auto& s) {
         s.parts[6].when = {0, 0};
       }},
      {"a set too many",
       [](auto& s) {
         s.parts[7].when = {3, 1};
       }},
      {"a member below the first",
       [](auto& s) {
         s.parts[7].when = {1, -1};
       }},
      {"a member behind the last",
       [](auto& s) {
         s.parts[7].when = {2, 1};
       }},
      {"a member on another rank",
       [](auto& s) {
         s.parts[7].when = {1, 0};
       }},
      {"a pick elsewhere", [](auto& s) { s.net.layers[4].view = 4; }},
      {"a pick of one",
       [](auto& s) {
         s.parts[9] = {};
         s.parts[9].what = parts::part::kind::pick;
       }},
      {"no message", [](auto& s) { s.messages.erase(s.messages.begin() + 1); }},
      {"a message read for other frames",
       [](auto& s) {
         s.messages[1].read = {0, 0};
       }},
      {"a replica's tensor read for all frames", [](auto& s) { s.parts[9].when = {}; }},
      {"a pick from two sets",
       [](auto& s) {
         s.parts[3].when = s.messages[1].read = s.messages[2].made = turn{1, 1};
       }},
      {"a pick in another order", [](auto& s) { std::swap(s.net.edges[2].from, s.net.edges[3].from); }},
      {"a pick of a view", [](auto& s) { s.net.layers[2].view = 0; }},
      {"a pick of a Concat", [](auto& s) { s.net.layers[2].is_concat = true; }},
      {"a group of two turns", [](auto& s) { s.groups[1].activation = 0; }}};
  for (const auto& [what, damage] : table) {
    turns_sample s;
    damage(s);
    EXPECT_FALSE(s.match()) << what;
  }
  EXPECT_TRUE(schedule::turns_match({}, {.net = turns_sample().net.view()}));  // without replicas
}

}  // namespace
