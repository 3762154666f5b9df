// The paths of a plan, and which letters they carry.
#include "dice/runtime/paths.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using kind = runtime::letter::kind;

/// Frames enter at rank 0 and leave at rank 3; ranks 1 and 2 are replicas, to which rank 0 gives frames.
struct four_ranks {
  std::array<schedule::step, 3> steps{
      {{.what = schedule::action::enter}, {.what = schedule::action::enter}, {.what = schedule::action::leave}}};
  std::array<schedule::rank_program, 4> ranks{{{.rank = 0, .first_step = 0, .last_step = 2, .slots = 3},
                                               {.rank = 1, .first_step = 2, .last_step = 2, .slots = 3},
                                               {.rank = 2, .first_step = 2, .last_step = 2, .slots = 3},
                                               {.rank = 3, .first_step = 2, .last_step = 3, .slots = 9}}};
  std::array<schedule::message, 2> messages{
      {{.from = 0, .to = 3, .tag = 1, .bytes = 256}, {.from = 0, .to = 3, .tag = 2, .bytes = 64}}};
  std::array<parts::replica_set, 1> replicas{{{1, 2, 0}}};
  std::array<parts::replica, 3> members{{{3}, {1}, {2}}};  // the first is of no set

  schedule::plan_view view() const {
    schedule::plan_view out;
    out.ranks = ranks;
    out.steps = steps;
    out.messages = messages;
    out.replicas = replicas;
    out.members = members;
    return out;
  }
};

}  // namespace

TEST(paths, of_letters_have_slots_for_what_ranks_say) {
  const four_ranks p;
  const auto all = runtime::letter_paths(p.view(), 4);
  EXPECT_EQ(all.size(), 12u);
  for (const auto& path : all) {
    const auto slots = [&](kind k) {
      const auto i = static_cast<std::size_t>(k);
      return std::pair{path.send_slots[i], path.receive_slots[i]};
    };
    const auto only = [](bool some, int n) { return some ? std::pair{n, n} : std::pair{0, 0}; };
    EXPECT_EQ(slots(kind::credit), only(path.from == 3 && path.to == 0, 4));
    EXPECT_EQ(slots(kind::stamp), only(path.from == 0 && path.to == 3, 4));
    EXPECT_EQ(slots(kind::health), only(path.to == 0, 3));
    EXPECT_EQ(slots(kind::note), only(path.from == 3 && path.to == 0, 8));
    EXPECT_EQ(slots(kind::notice), (std::pair{3, 2}));
    EXPECT_EQ(slots(kind::question), (std::pair{1, 1}));
    EXPECT_EQ(slots(kind::answer), (std::pair{2, 1}));
    EXPECT_EQ(slots(kind::turn), only(path.from == 0, 6));
    EXPECT_EQ(slots(kind::time), only(path.to == 0 && path.from != 3, 6));
  }
}

TEST(paths, are_of_ranks_with_steps_of_a_kind) {
  const four_ranks p;
  EXPECT_EQ(runtime::ranks_with(p.view(), schedule::action::enter), std::vector<int>{0});  // once, with two inputs
  EXPECT_EQ(runtime::ranks_with(p.view(), schedule::action::leave), std::vector<int>{3});
  EXPECT_TRUE(runtime::ranks_with(p.view(), schedule::action::compute).empty());
  // Two more turns than frames in flight, and at least one more than the five unfinished frames of a replica.
  for (const auto& [in_flight, slots] : {std::pair{1, 6}, {4, 6}, {5, 7}, {20, 22}})
    EXPECT_EQ(runtime::turn_slots(in_flight), slots);
}

TEST(paths, are_messages_and_then_letters) {
  const four_ranks p;
  const auto all = runtime::paths_of(p.view(), 4);
  ASSERT_EQ(all.size(), 14u);
  EXPECT_TRUE(all[0].bytes == 256 && all[0].send_slots == 3 && all[0].receive_slots == 4);
  EXPECT_TRUE(all[1].from == 0 && all[1].to == 3 && all[1].tag == 2 && all[1].bytes == 64);
  std::set<std::tuple<int, int, int>> seen;
  for (const auto& one : all) EXPECT_TRUE(seen.emplace(one.from, one.to, one.tag).second);
  const auto letters = runtime::letter_paths(p.view(), 4);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto& path = all[2 + i];
    EXPECT_TRUE(path.from == letters[i].from && path.to == letters[i].to && path.bytes == sizeof(runtime::letter));
    EXPECT_TRUE(path.send_slots == letters[i].sends() && path.receive_slots == letters[i].receives());
  }
}
